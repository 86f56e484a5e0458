(function () {
  "use strict";
  var items = Array.prototype.slice.call(document.querySelectorAll(".item"));
  var controls = ["stratum", "quadrant", "change", "words"].map(function (name) {
    return document.getElementById("filter-" + name);
  });
  var count = document.getElementById("count");
  function show() {
    var wanted = controls.map(function (control) { return control ? control.value.toLowerCase() : ""; });
    var seen = 0;
    items.forEach(function (item) {
      var fits =
        (!wanted[0] || item.dataset.stratum === wanted[0]) &&
        (!wanted[1] || item.dataset.quadrant === wanted[1]) &&
        (!wanted[2] || item.dataset.change === wanted[2]) &&
        (!wanted[3] || item.textContent.toLowerCase().indexOf(wanted[3]) >= 0);
      item.hidden = !fits;
      seen += fits ? 1 : 0;
    });
    count.textContent = seen + " of " + items.length + " items";
  }
  controls.forEach(function (control) {
    if (control) { control.addEventListener("input", show); }
  });
  if (count) { show(); }
})();
