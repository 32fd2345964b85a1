import type { RecordOf } from '../protocol/records.ts'
import type { TrunkChange } from './session.ts'

type Reshaping = RecordOf<'revert.applied' | 'prune.applied' | 'compaction.end'>

/** What a record says of how the trunk was reshaped, in short. Pure. */
export function trunkChangeOf(record: Reshaping): TrunkChange {
  const { applied } = record
  const why = record.reason === undefined ? {} : { reason: record.reason }
  switch (record.type) {
    case 'revert.applied': {
      const { category, target, rebased = [] } = record
      return {
        type: 'revert',
        applied,
        category,
        ...(target === undefined ? {} : { target }),
        ...(rebased.length === 0 ? {} : { rebased: rebased.map(({ nodeId }) => nodeId) }),
        ...why,
      }
    }
    case 'prune.applied':
      return { type: 'prune', applied, steps: [...record.steps], tokens: record.tokens, ...why }
    case 'compaction.end': {
      const { overlay, tokensBefore, tokensAfter } = record
      const span = overlay === undefined ? {} : { nodeId: overlay.nodeId, from: overlay.from, to: overlay.to }
      return { type: 'compaction', applied, ...span, tokensBefore, tokensAfter, ...why }
    }
  }
}
