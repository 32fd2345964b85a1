import type { ElkGraph } from './chartLayout.ts'

/** Layouts of the agents' full charts, by key. The build adds them. A repository that was not built has none. */
export const builtLayouts: Readonly<Record<string, ElkGraph>> = {}
