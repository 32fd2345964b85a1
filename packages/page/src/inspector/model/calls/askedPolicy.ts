import type { PolicyEnd } from '../../../../../../src/protocol/braking.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { LogRecord, RecordOf } from '../../../../../../src/protocol/records.ts'
import { counted } from '../../../../../charts/src/amounts.ts'
import { askingCost, formatCount } from '../words/numbers.ts'

/** A line about the outcome of a policy. */
export interface PolicyLine {
  readonly tone: 'plain' | 'bad'
  readonly text: string
}

/** Progress of a policy that a person asked for. */
export interface AskedPolicy {
  /** `asked`: it waits for its turn; `consulting`: it decides; `draining`: its plan is carried out; `done`: nothing follows. */
  readonly stage: 'asked' | 'consulting' | 'draining' | 'done'
  readonly lines: readonly PolicyLine[]
}

/** Returns the progress of a requested policy, from the records since the request. Pure. */
export function askedPolicy(records: readonly LogRecord[], policy: string): AskedPolicy {
  const asked = records.find(
    (record) =>
      record.type === 'policy.requested' && record.request.by === 'person' && record.request.policy === policy,
  )
  const id = asked?.type === 'policy.requested' ? asked.request.id : undefined
  if (id === undefined) return { stage: 'asked', lines: [] }
  const end = records.find((record) => record.type === 'policy.end' && record.requestId === id)
  if (end?.type !== 'policy.end') {
    const isFired = records.some((record) => record.type === 'policy.start' && record.requestId === id)
    return { stage: isFired ? 'consulting' : 'asked', lines: [] }
  }
  const prune = records.find(
    (record): record is RecordOf<'prune.applied'> => record.type === 'prune.applied' && record.id === end.prune,
  )
  const revert = records.find(
    (record): record is RecordOf<'revert.applied'> => record.type === 'revert.applied' && record.id === end.revert,
  )
  const isWaiting =
    (end.prune !== undefined && prune === undefined) || (end.revert !== undefined && revert === undefined)
  const lines = [
    endLine(end),
    ...(end.note === undefined ? [] : [plain(`The model is told: ${end.note}`)]),
    ...(prune === undefined ? [] : pruneLines(prune)),
    ...(revert === undefined ? [] : [revertLine(revert)]),
    ...(end.usage === undefined ? [] : [plain(`Cost: ${askingCost(end.usage, end.costUsd)}`)]),
  ]
  return { stage: isWaiting ? 'draining' : 'done', lines }
}

const plain = (text: string): PolicyLine => ({ tone: 'plain', text })
const bad = (text: string): PolicyLine => ({ tone: 'bad', text })

function endLine({ outcome, reason }: PolicyEnd): PolicyLine {
  const why = reason === undefined ? '' : `: ${reason}`
  if (outcome === 'failed') return bad(`The policy failed${why}`)
  return plain(outcome === 'planned' ? `The policy planned a change${why}` : `The policy changes nothing${why}`)
}

function pruneLines({ applied, by, masked, steps, tokens, reason }: RecordOf<'prune.applied'>): PolicyLine[] {
  if (!applied) return [bad(`Nothing was hidden: ${reason ?? 'no reason was given'}`)]
  const verb = masked === true ? 'Masked the results of' : by === 'runtime' ? 'Folded' : 'Hid'
  const span = steps.length === 1 ? '' : `–${formatNodeId(steps.at(-1)!)}`
  const what = `${counted(steps.length, 'step')} (${formatNodeId(steps[0]!)}${span})`
  const done = plain(`${verb} ${what}, ${formatCount(tokens)} tokens`)
  return reason === undefined ? [done] : [done, bad(reason)]
}

function revertLine({ applied, requested, target, category, reason }: RecordOf<'revert.applied'>): PolicyLine {
  return applied
    ? plain(`Went back to ${target === undefined ? requested : formatNodeId(target)} (${category})`)
    : bad(`Could not go back to ${requested}: ${reason ?? 'no reason was given'}`)
}
