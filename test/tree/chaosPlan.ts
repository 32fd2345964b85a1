import type { Limits } from '../../src/protocol/runs/runLimits.ts'
import type { RestartPolicy } from '../../src/protocol/runs/restarts.ts'
import type { ToolExecution } from '../../src/machines/agentPolicy.ts'
import type { Dice } from './dice.ts'

/** Plan of one chaotic tree. */
export interface ChaosPlan {
  /** Levels below the root, and sub-agents a reply may call. */
  readonly depth: number
  readonly fanOut: number
  /** Agents that may be begun, the root counted. */
  readonly agents: number
  readonly limits: Limits
  /** Defects that crash an agent in the middle of a step; whether the root may have one. */
  readonly crashes: number
  readonly rootCrashes: boolean
  readonly restart: RestartPolicy['restart']
  readonly maxRestarts: number
  readonly backoffMs: number
  readonly stallMs: number
  /** Failures of a hundred appends, while the store is bad. */
  readonly storeFailures: number
  /** Turns of the event loop that the store takes, at most. */
  readonly storeDelay: number
  readonly toolExecution: ToolExecution
  readonly maxChildren: number
  /** Errors of a hundred model calls, tool calls and moments: something goes wrong or somebody interferes. */
  readonly modelErrors: number
  readonly interference: number
  /** People interfere in the middle of things too: from inside a listener. */
  readonly isHot: boolean
  readonly spawnsFromCode: boolean
  /** The process dies at this moment as well, and another goes on from the logs; 0: it does not. */
  readonly death: number
  readonly ending: 'stop' | 'close' | 'runtime'
}

const sometimes = <T>(dice: Dice, share: number, value: () => T, otherwise: T): T =>
  dice.percent(share) ? value() : otherwise

/** A tree of depth 5 and fan-out 4, or less of both. */
export const chaosPlan = (dice: Dice): ChaosPlan => ({
  depth: dice.pick([2, 3, 5, 5])!,
  fanOut: dice.pick([1, 2, 4, 4])!,
  agents: dice.int(5, 120),
  limits: sometimes(dice, 40, () => limits(dice), {}),
  crashes: sometimes(dice, 40, () => dice.int(1, 12), 0),
  rootCrashes: dice.percent(10),
  restart: dice.pick(['never', 'transient', 'transient', 'permanent'] as const)!,
  maxRestarts: dice.int(0, 4),
  backoffMs: dice.pick([0, 10, 200])!,
  stallMs: sometimes(dice, 15, () => dice.int(200, 2_000), Infinity),
  storeFailures: sometimes(dice, 20, () => dice.int(1, 30), 0),
  storeDelay: dice.pick([0, 0, 1, 5])!,
  toolExecution: dice.pick(['parallel', 'parallel', 'sequential', { batch: 2 }] as const)!,
  maxChildren: dice.pick([1, 2, 4, 16])!,
  modelErrors: dice.pick([0, 5, 20])!,
  interference: dice.pick([0, 10, 30])!,
  isHot: dice.percent(30),
  death: sometimes(dice, 30, () => dice.int(1, 15), 0),
  spawnsFromCode: dice.percent(25),
  ending: dice.pick(['stop', 'close', 'runtime'] as const)!,
})

const limits = (dice: Dice): Limits => ({
  ...(dice.percent(60) ? { tokens: dice.int(500, 60_000) } : {}),
  ...(dice.percent(30) ? { turns: dice.int(2, 120) } : {}),
  ...(dice.percent(30) ? { costUsd: dice.int(1, 1_000) / 10_000 } : {}),
  ...(dice.percent(20) ? { ms: dice.int(200, 10_000) } : {}),
})
