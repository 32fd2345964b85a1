import type { ElkGraph } from './chartLayout.ts'

/** Layouts of the full charts of agents by their keys. The build puts them here; a repository that was not built has none. */
export const builtLayouts: Readonly<Record<string, ElkGraph>> = {}
