/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A page around the picture, with a script that zooms and moves time. It loads nothing. The page is
 * well-formed XML too: therefore the script has neither "less than" nor "and" signs.
 *
 * The script shows a part of the plot by its viewBox, which stretches it in x alone. What must keep
 * its shape (texts, crosses, textures) is scaled back around its data-x, and the axis is drawn
 * anew. */
#include "base/escape.h"
#include "timeline/timeline.h"

static const char style[] =
    "body{margin:0 auto;max-width:1200px;font:14px DejaVu Sans,Helvetica,Arial,sans-serif;"
    "color:#444;background:#fff}\n"
    "p{margin:8px 12px}\n"
    "div{overflow-x:auto}\n"
    "#timeline{display:block;width:100%;min-width:720px;height:auto}\n"
    "#plot{cursor:grab;touch-action:none}\n"
    "#plot rect,#plot path{vector-effect:non-scaling-stroke}\n"
    ".walker{cursor:pointer}\n";

static const char script[] =
    "(function () {\n"
    "  var page = document.getElementById('timeline'), plot = document.getElementById('plot');\n"
    "  var axis = document.getElementById('axis'), only = document.getElementById('only');\n"
    "  var box = plot.getAttribute('viewBox').split(' ').map(Number);\n"
    "  var left = box[0], width = box[2], seconds = Number(plot.dataset.seconds);\n"
    "  var bottom = Number(plot.dataset.bottom), from = 0, to = seconds, held = null;\n"
    "  var fingers = {};\n"
    "  var kept = plot.querySelectorAll('[data-x]'), patterns = "
    "page.querySelectorAll('pattern');\n"
    "\n"
    "  function add(name, attributes, text) {\n"
    "    var e = document.createElementNS('http://www.w3.org/2000/svg', name);\n"
    "    for (var a in attributes) e.setAttribute(a, attributes[a]);\n"
    "    e.textContent = text;\n"
    "    axis.appendChild(e);\n"
    "  }\n"
    "  function drawAxis() {\n"
    "    var tenth = (to - from) / 10, step = Math.pow(10, Math.floor(Math.log10(tenth)));\n"
    "    var many = tenth / step;\n"
    "    step *= many > 5 ? 10 : many > 2 ? 5 : many > 1 ? 2 : 1;\n"
    "    var digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));\n"
    "    axis.textContent = '';\n"
    "    for (var i = Math.ceil(from / step - 1e-9); to >= i * step; i++) {\n"
    "      var x = left + width * (i * step - from) / (to - from);\n"
    "      add('path', {d: 'M' + x + ' ' + bottom + 'v5', stroke: '#bbb'}, '');\n"
    "      add('text', {x: x, y: bottom + 19, fill: '#333', 'font-size': 13,\n"
    "                   'text-anchor': 'middle'}, (i * step).toFixed(digits));\n"
    "    }\n"
    "  }\n"
    "  function show(start, end) {\n"
    "    var long = Math.min(seconds, Math.max(seconds * 1e-6, end - start));\n"
    "    from = Math.min(Math.max(0, start), seconds - long);\n"
    "    to = from + long;\n"
    "    var scale = long / seconds;\n"
    "    plot.setAttribute('viewBox', [left + width * from / seconds, box[1], width * scale,\n"
    "                                  box[3]].join(' '));\n"
    "    kept.forEach(function (e) {\n"
    "      var x = Number(e.dataset.x);\n"
    "      e.setAttribute('transform', 'translate(' + x + ' 0) scale(' + scale +\n"
    "                     ' 1) translate(' + -x + ' 0)');\n"
    "    });\n"
    "    patterns.forEach(function (p) {\n"
    "      p.setAttribute('patternTransform', 'scale(' + scale + ' 1) ' +\n"
    "                     (p.dataset.turn || ''));\n"
    "    });\n"
    "    drawAxis();\n"
    "  }\n"
    "  function share(x) {\n"
    "    var r = page.getBoundingClientRect();\n"
    "    return ((x - r.left) * page.viewBox.baseVal.width / r.width - left) / width;\n"
    "  }\n"
    "  function hold(y) { /* one finger moves time; two zoom it, too */\n"
    "    var at = Object.keys(fingers).map(function (id) { return share(fingers[id]); });\n"
    "    held = at.length ? {at: at, y: y, from: from, to: to} : null;\n"
    "  }\n"
    "  function follow() {\n"
    "    var at = Object.keys(fingers).map(function (id) { return share(fingers[id]); });\n"
    "    var long = held.to - held.from, first = held.from + held.at[0] * long;\n"
    "    if (at.length > 1) long *= (held.at[1] - held.at[0]) / (at[1] - at[0]);\n"
    "    if (long > 0) show(first - at[0] * long, first - at[0] * long + long);\n"
    "  }\n"
    "  function zoom(at, by) {\n"
    "    var middle = from + at * (to - from);\n"
    "    show(middle - (middle - from) * by, middle + (to - middle) * by);\n"
    "  }\n"
    "  plot.addEventListener('wheel', function (e) {\n"
    "    e.preventDefault();\n"
    "    zoom(share(e.clientX), Math.pow(1.002, e.deltaY));\n"
    "  }, {passive: false});\n"
    "  plot.addEventListener('pointerdown', function (e) {\n"
    "    fingers[e.pointerId] = e.clientX;\n"
    "    hold(e.clientY);\n"
    "    plot.setPointerCapture(e.pointerId);\n"
    "  });\n"
    "  plot.addEventListener('pointermove', function (e) {\n"
    "    if (!(e.pointerId in fingers)) return;\n"
    "    fingers[e.pointerId] = e.clientX;\n"
    "    follow();\n"
    "    if (held.at.length === 1) window.scrollBy(0, held.y - e.clientY);\n"
    "    held.y = e.clientY;\n"
    "  });\n"
    "  ['pointerup', 'pointercancel'].forEach(function (what) {\n"
    "    plot.addEventListener(what, function (e) {\n"
    "      delete fingers[e.pointerId];\n"
    "      hold(e.clientY);\n"
    "    });\n"
    "  });\n"
    "  plot.addEventListener('dblclick', function () { show(0, seconds); });\n"
    "  document.addEventListener('keydown', function (e) {\n"
    "    var step = (to - from) / 5;\n"
    "    if (e.key === '+') zoom(0.5, 0.5);\n"
    "    if (e.key === '-') zoom(0.5, 2);\n"
    "    if (e.key === '0') show(0, seconds);\n"
    "    if (e.key === 'ArrowLeft') show(from - step, to - step);\n"
    "    if (e.key === 'ArrowRight') show(from + step, to + step);\n"
    "  });\n"
    "  page.querySelectorAll('.walker').forEach(function (e) {\n"
    "    e.addEventListener('click', function () {\n"
    "      var rule = '#spans g{opacity:.12}#spans g.' + e.dataset.walker + '{opacity:1}';\n"
    "      only.textContent = only.textContent === rule ? '' : rule;\n"
    "    });\n"
    "  });\n"
    "  var part = location.hash.slice(1).split('-').map(Number); /* #FROM-TO, in seconds */\n"
    "  show(part[0] || 0, part[1] > part[0] ? part[1] : seconds);\n"
    "})();\n";

int rgi_timeline_html(FILE *file, const rgi_timeline_picture *picture) {
  rgi_timeline_picture zoomed = *picture;
  zoomed.page = 1;
  fputs("<!DOCTYPE html>\n<html xmlns='http://www.w3.org/1999/xhtml' lang='en'>\n<head>\n"
        "<meta charset='UTF-8'/>\n"
        "<meta name='viewport' content='width=device-width,initial-scale=1'/>\n<title>",
        file);
  rgi_escape_xml(file, picture->title);
  fprintf(file,
          "</title>\n<style>\n%s</style>\n<style id='only'></style>\n</head>\n<body>\n<div>\n",
          style);
  if (!rgi_timeline_svg(file, &zoomed))
    return 0;
  fputs("</div>\n<p>Wheel, two fingers, + and -: zoom. Drag, arrows: move. Double click, 0: all. A "
        "click "
        "on a walker of the legend: it alone. #FROM-TO behind the page's address: these "
        "seconds.</p>\n",
        file);
  fprintf(file, "<script>\n%s</script>\n</body>\n</html>\n", script);
  return !ferror(file);
}
