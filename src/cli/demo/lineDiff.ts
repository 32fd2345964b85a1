const around = 2

/** The lines in which two texts differ, with some around them, marked as in a unified diff; empty when they are equal. */
export function lineDiff(before: string, after: string): string {
  const rows = align(before.split('\n'), after.split('\n'))
  const near = rows.map((_, i) => rows.slice(Math.max(0, i - around), i + around + 1).some(({ mark }) => mark !== ' '))
  const shown = rows.flatMap(({ mark, line }, i) => {
    if (near[i] !== true) return []
    return i > 0 && near[i - 1] === false && near.slice(0, i).includes(true) ? ['  …', mark + line] : [mark + line]
  })
  return shown.join('\n')
}

/** Both texts in one, by their longest common sequence of lines. Time and memory grow with the product of their lengths. */
function align(before: readonly string[], after: readonly string[]): { mark: ' ' | '-' | '+'; line: string }[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1))
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i]![j] =
        before[i] === after[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
    }
  }
  const rows: { mark: ' ' | '-' | '+'; line: string }[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      rows.push({ mark: ' ', line: before[i]! })
      i++
      j++
    } else if (j === after.length || (i < before.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!))
      rows.push({ mark: '-', line: before[i++]! })
    else rows.push({ mark: '+', line: after[j++]! })
  }
  return rows
}
