export const LAYERS: string[];
export function sources(root: string): string[];
export function importsOf(root: string, path: string, text?: string): string[];
export function wrongImport(file: string, target: string): string | null;
export function wrongImports(root: string): string[];
export const layersRule: object;
