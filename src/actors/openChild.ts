import type { OpenInput, OpenOutput, WatchOutput } from '../machines/supervisorTypes.ts'
import type { FindPorts } from './agentPorts.ts'
import { effect } from './effect.ts'

/** The effect of `opening`: makes a sub-agent ready to run, from its log when it has one. */
export const openChild = (find: FindPorts) =>
  effect<OpenOutput, OpenInput>((input, cancellation) => find(input.agentId).children!.open(input, cancellation))

/** The effect beside a running sub-agent: tells what came of it. */
export const watchChild = (find: FindPorts) =>
  effect<WatchOutput, OpenInput>((input, cancellation) => find(input.agentId).children!.watch(input, cancellation))
