import type { OpenFolders } from '../../../../tools/src/skills/openFolders.ts'

/** Stand-in for folders of skills: a page has none, and says so where skills are asked for. */
export const openFolders = (folders: readonly string[]): OpenFolders => ({
  tools: Object.freeze([]),
  look: async () => ({ skills: [], trouble: [`A page in a browser cannot read the folder ${folders.join(', ')}.`] }),
})
