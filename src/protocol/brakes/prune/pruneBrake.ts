import type { PruneOutcome, PruneRequest, PruneCommand } from './pruneRecords.ts'

/** Prune brake: its queue, the commands that request a prune, and the record of a refusal. */
export const pruneBrake = {
  tool: 'prun',
  /** The tool that reverses a prune. */
  showTool: 'show_step',
  queue: 'prunes',
  /** State of the chart after the drain. */
  drained: 'pruned',
  flag: 'prune',
  asks: {
    'agent.prune': ({ type: _, agentId: __, ...said }: PruneCommand) => said,
    'agent.fold': () => ({ fold: true }) as const,
  },
  refused: ({ id }: PruneRequest, why: string): PruneOutcome => ({
    id,
    applied: false,
    steps: [],
    tokens: 0,
    reason: `prune refused: ${why}`,
  }),
} as const
