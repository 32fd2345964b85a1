const bars = '▁▂▃▄▅▆▇█'

/** Draws consecutive values as a line of bars, each the highest of `each` values; `top` is the value of a full bar. Pure. */
export function sparkline(values: readonly number[], each: number, top: number): string {
  let line = ''
  for (let start = 0; start < values.length; start += each) {
    const highest = Math.max(...values.slice(start, start + each))
    line += bars[Math.min(bars.length - 1, Math.floor((highest / top) * bars.length))]
  }
  return line
}
