import type { Rolldown } from 'vite'

/** These modules of a build and what they import; with `later` also what they load when it is used. */
export function reachedFrom(
  entries: readonly string[],
  infoOf: (id: string) => Rolldown.ModuleInfo | null,
  later: boolean,
): ReadonlySet<string> {
  const reached = new Set(entries)
  for (const id of reached) {
    const { importedIds = [], dynamicallyImportedIds = [] } = infoOf(id) ?? {}
    for (const imported of [...importedIds, ...(later ? dynamicallyImportedIds : [])]) reached.add(imported)
  }
  return reached
}
