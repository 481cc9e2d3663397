// Runs before the first paint, so that a chosen theme never flashes; a file of its own because inline scripts are forbidden.
(function () {
  try {
    var theme = localStorage.getItem("shopfloor.theme");
    if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is blocked: follow the system.
  }
})();
