import type { Telling } from '../../../../../words/src/brakes/telling.ts'
import type { PruneOutcome } from '../../../../../../src/protocol/braking.ts'
import type { AskedBrake } from '../../../../../../src/protocol/brakes/brakeTable.ts'
import { brakeLines } from '../../../../../words/src/brakes/brakeLines.ts'
import { counted } from '../../../../../charts/src/amounts.ts'
import type { Economics } from '../../../../../../src/protocol/economics.ts'
import { savingsOf, type BrakeSaving, type Savings } from '../../../../../sessions/src/savings/savings.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import { totalTokens } from '../../../../../../src/protocol/text/messageText.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'

/** A change of the part of the conversation that the model sees. */
export interface BrakeUse {
  readonly seq: number
  readonly turnIndex: number
  readonly kind: Exclude<AskedBrake, 'pin'> | 'fold' | 'mask' | 'show' | 'compaction'
  /** Origin of the change, in words. */
  readonly by: string
  readonly what: string
  readonly isApplied: boolean
  /** Reason why the change was not applied, or not as a whole. */
  readonly reason?: string
  /** A node of the conversation to go to. */
  readonly node?: NodeId
  readonly economics?: Economics
  /** Savings so far, if the change was applied. */
  readonly saving?: BrakeSaving
  /** US dollars that the change itself cost. */
  readonly costUsd: number
}

/** Activity of a policy over the session. */
export interface PolicyUse {
  readonly policy: string
  readonly fired: number
  readonly planned: number
  readonly nothing: number
  readonly failed: number
  /** Tokens of the models that the policy asked. */
  readonly tokens: number
  readonly costUsd: number
  /** Number of tokens by which each later request is smaller. */
  readonly freed: number
}

/** Effect of the brakes on the requests of an agent. */
export interface ContextUse {
  readonly savings: Savings
  readonly brakes: readonly BrakeUse[]
  readonly policies: readonly PolicyUse[]
}

const who = { model: 'the model', person: 'a person', runtime: 'the runtime' } as const

const causes = { headroom: 'the runtime', overflow: 'the provider', requested: 'a request' } as const

type Asked = Readonly<{ by: keyof typeof who; policy?: string }>

const kindOfPrune = ({ by, masked, shown }: PruneOutcome): BrakeUse['kind'] => {
  if (shown === true) return 'show'
  return masked === true ? 'mask' : by === 'runtime' ? 'fold' : 'prune'
}

/** Returns true if a brake has paid for the cache that it invalidated; `null` if it never will. Pure. */
export const hasPaid = ({ economics, saving }: BrakeUse): boolean | null =>
  economics === undefined || economics.paysAfter === null ? null : (saving?.requests ?? 0) >= economics.paysAfter

/** Returns at most `most` values at even distances, the last among them. Pure. */
export function chosenOf<T>(values: readonly T[], most: number): readonly T[] {
  if (values.length <= most) return values
  return Array.from({ length: most }, (_, at) => values[Math.round((at * (values.length - 1)) / (most - 1))]!)
}

/** Returns the effect of the brakes up to record `end`. Pure. */
export function contextUse(records: readonly LogRecord[], end: number): ContextUse {
  const shown = records.slice(0, end)
  const savings = savingsOf(shown)
  const savingOf = new Map(savings.brakes.map((saving) => [saving.seq, saving]))
  const brakes: BrakeUse[] = []
  const policies = new Map<string, { -readonly [K in keyof PolicyUse]: PolicyUse[K] }>()
  const asked = new Map<string, Asked>()
  let cause: keyof typeof causes = 'headroom'
  const policyOf = (policy: string) => {
    const known = policies.get(policy)
    if (known !== undefined) return known
    const made = { policy, fired: 0, planned: 0, nothing: 0, failed: 0, tokens: 0, costUsd: 0, freed: 0 }
    policies.set(policy, made)
    return made
  }
  const add = (
    { seq, turnIndex }: { readonly seq: number; readonly turnIndex: number },
    use: Omit<BrakeUse, 'seq' | 'turnIndex'>,
    policy?: string,
  ): void => {
    const won = use.isApplied ? (use.economics?.freed ?? 0) : 0
    if (policy !== undefined) policyOf(policy).freed += won
    const saving = savingOf.get(seq)
    brakes.push({ seq, turnIndex, ...use, ...(saving === undefined ? {} : { saving }) })
  }
  const byOf = (id: string, policy?: string): string => {
    const request = asked.get(id)
    const name = policy ?? request?.policy
    return name === undefined ? who[request?.by ?? 'runtime'] : `policy ${name}`
  }
  for (const record of shown) {
    switch (record.type) {
      case 'revert.requested':
      case 'prune.requested':
        asked.set(record.request.id, record.request)
        break
      case 'revert.applied': {
        const policy = asked.get(record.id)?.policy
        const what = `${record.category}, back to ${record.requested}`
        add(record, { kind: 'revert', by: byOf(record.id), what, ...outcomeOf(record, record.target) }, policy)
        break
      }
      case 'prune.applied': {
        const kind = kindOfPrune(record)
        const what = counted(record.steps.length, 'step')
        add(
          record,
          { kind, by: byOf(record.id, record.policy), what, ...outcomeOf(record, record.steps[0]) },
          record.policy,
        )
        break
      }
      case 'compaction.start':
        cause = record.cause
        break
      case 'compaction.end': {
        const what = `${counted(record.tokensBefore, 'token')} to ${counted(record.tokensAfter, 'token')}`
        const node = record.overlay?.nodeId
        add(record, { kind: 'compaction', by: causes[cause], what, ...outcomeOf(record, node) })
        break
      }
      case 'policy.start':
        policyOf(record.policy).fired += 1
        break
      case 'policy.end': {
        const policy = policyOf(record.policy)
        policy[record.outcome] += 1
        policy.costUsd += record.costUsd
        policy.tokens += record.usage === undefined ? 0 : totalTokens(record.usage)
        break
      }
      default: {
        const use = uses[record.type]?.(record as never, { counted })
        if (use === undefined) break
        const { kind, what, node } = use
        add(record as Reshaping, { kind, by: who.person, what, ...outcomeOf(record as Reshaping, node) })
      }
    }
  }
  return { savings, brakes, policies: [...policies.values()] }
}

type Reshaping = Outcome & { readonly seq: number; readonly turnIndex: number }

const uses: {
  readonly [T in LogRecord['type']]?: (
    record: never,
    telling: Pick<Telling, 'counted'>,
  ) => Pick<BrakeUse, 'kind' | 'what'> & { readonly node: NodeId | undefined }
} = brakeLines.use

interface Outcome {
  readonly applied: boolean
  readonly reason?: string | undefined
  readonly economics?: Economics | undefined
  readonly costUsd?: number
}

const outcomeOf = ({ applied, reason, economics, costUsd = 0 }: Outcome, node: NodeId | undefined) => ({
  isApplied: applied,
  costUsd,
  ...(reason === undefined ? {} : { reason }),
  ...(economics === undefined ? {} : { economics }),
  ...(node === undefined ? {} : { node }),
})
