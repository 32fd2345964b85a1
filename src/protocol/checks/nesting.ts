/** Most levels of what goes into a record: those of a value (`cloneJson`) and of what it stands in. A reader of logs takes twice as many. */
export const mostLevels = 550

/** Returns true if a value nests lists or objects more than `levels` deep. Uses at most that many stack levels. Pure. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false
  return levels === 0 || Object.values(value).some((inner) => isNestedDeeper(inner, levels - 1))
}
