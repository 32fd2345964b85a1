import type { OverviewRow } from './overview.ts'

/** A failure or a pause that several agents have in common. */
export interface Cause {
  readonly standing: 'failed' | 'paused'
  readonly words: string
  readonly agentIds: readonly string[]
}

/** Returns what at least two agents stand still for, in the order of the rows. Pure. */
export function causesOf(
  rows: readonly Pick<OverviewRow, 'agentId' | 'standing' | 'words' | 'pending'>[],
): readonly Cause[] {
  const found = new Map<string, Cause & { readonly agentIds: string[] }>()
  for (const { agentId, standing, words, pending } of rows) {
    if (pending !== null || (standing !== 'failed' && standing !== 'paused')) continue
    const cause = found.get(words) ?? { standing, words, agentIds: [] }
    cause.agentIds.push(agentId)
    found.set(words, cause)
  }
  return [...found.values()].filter(({ agentIds }) => agentIds.length > 1)
}
