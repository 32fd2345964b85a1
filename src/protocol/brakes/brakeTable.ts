import type { z } from 'zod'
import { graftBrake } from './graft/graftBrake.ts'
import type { GraftOutcome, GraftRequest } from './graft/graftRecords.ts'
import { pinBrake } from './pins/pinBrake.ts'
import type { PinOutcome, PinRequest } from './pins/pinRecords.ts'
import { pruneBrake } from './prune/pruneBrake.ts'
import type { PruneOutcome, PruneRequest } from './prune/pruneRecords.ts'
import { revertBrake } from './revert/revertBrake.ts'
import type { RevertOutcome, RevertRequest } from './revert/revertRecords.ts'
import type { brakeCommands } from './brakeSchemas.ts'

export type BrakeCommandType = keyof typeof brakeCommands

/** Requests and outcomes of each brake that is requested and has its own drain. */
interface Asked {
  readonly pin: { readonly request: PinRequest; readonly outcome: PinOutcome }
  readonly revert: { readonly request: RevertRequest; readonly outcome: RevertOutcome }
  readonly graft: { readonly request: GraftRequest; readonly outcome: GraftOutcome }
  readonly prune: { readonly request: PruneRequest; readonly outcome: PruneOutcome }
}
export type AskedBrake = keyof Asked
export type RequestOf<K extends AskedBrake> = Asked[K]['request']
export type OutcomeOf<K extends AskedBrake> = Asked[K]['outcome']

/** The requested brakes, in the order of their drains. */
export const askedBrakes = { pin: pinBrake, revert: revertBrake, graft: graftBrake, prune: pruneBrake } as const
type Rows = typeof askedBrakes
export type BrakeQueue = Rows[AskedBrake]['queue']
export type BrakeQueueOf<K extends AskedBrake> = Rows[K]['queue']

/** The name of the effect that decides the requests of a brake. */
export type DrainEffect<K extends AskedBrake> = `drain${Capitalize<BrakeQueueOf<K>>}`
export function drainEffect<K extends AskedBrake>(kind: K): DrainEffect<K> {
  const { queue } = askedBrakes[kind]
  return `drain${queue[0]!.toUpperCase()}${queue.slice(1)}` as DrainEffect<K>
}

/** Queues by the record type that fills them: brake requests, and other requests about the trunk. */
export const queueOf = {
  ...(Object.fromEntries(Object.entries(askedBrakes).map(([kind, { queue }]) => [`${kind}.requested`, queue])) as {
    readonly [K in AskedBrake as `${K}.requested`]: BrakeQueueOf<K>
  }),
  'compaction.requested': 'compactions',
  'policy.requested': 'policyRequests',
} as const

/** Requests that wait for their drain, by queue. */
export type BrakeQueues = {
  readonly [K in AskedBrake as Rows[K]['queue']]: readonly RequestOf<K>[]
}

/** Events by which code and people ask an agent for a brake. */
export type BrakeEvent = {
  readonly [K in AskedBrake]: { readonly type: K; readonly request: RequestOf<K>; readonly at: number }
}[AskedBrake]

export type AskingCommand = {
  readonly [C in BrakeCommandType]: z.output<ReturnType<(typeof brakeCommands)[C]>>
}[KeysOf<Rows[AskedBrake]['asks']>]
type KeysOf<T> = T extends unknown ? keyof T & BrakeCommandType : never

export function askedBy(command: AskingCommand): { readonly kind: AskedBrake; readonly asked: object } {
  const kind = askedKinds.find((one) => Object.hasOwn(askedBrakes[one].asks, command.type))!
  const asks: Readonly<Record<string, (command: never) => object>> = askedBrakes[kind].asks
  return { kind, asked: asks[command.type]!(command as never) }
}

export const askedKinds = Object.keys(askedBrakes) as readonly AskedBrake[]
export const brakeQueues = askedKinds.map((kind) => askedBrakes[kind].queue) as readonly BrakeQueue[]

export const askingTools: readonly string[] = askedKinds.flatMap((kind) => {
  const { tool, showTool }: { readonly queue: string; readonly tool?: string; readonly showTool?: string } =
    askedBrakes[kind]
  return [tool, showTool].flatMap((name) => name ?? [])
})
export type AskingTool = Extract<Rows[AskedBrake], { readonly tool: string }>['tool']

const none: readonly never[] = Object.freeze([])
/** Queues of an agent without requests. */
export const emptyBrakeQueues: BrakeQueues = Object.freeze(
  Object.fromEntries(brakeQueues.map((queue) => [queue, none])),
) as unknown as BrakeQueues

export const refusalOf = <K extends AskedBrake>(kind: K, request: RequestOf<K>, why: string): OutcomeOf<K> =>
  (askedBrakes[kind].refused as (request: RequestOf<K>, why: string) => OutcomeOf<K>)(request, why)
