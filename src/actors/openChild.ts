import { fromPromise } from 'xstate'
import type { OpenInput, OpenOutput, WatchOutput } from '../machines/supervisorTypes.ts'
import type { FindPorts } from './agentPorts.ts'

/** The effect of `opening`: makes a sub-agent ready to run, from its log when it has one. */
export const openChild = (find: FindPorts) =>
  fromPromise<OpenOutput, OpenInput>(({ input, signal }) => find(input.agentId).children!.open(input, signal))

/** The effect beside a running sub-agent: tells what came of it. */
export const watchChild = (find: FindPorts) =>
  fromPromise<WatchOutput, OpenInput>(({ input, signal }) => find(input.agentId).children!.watch(input, signal))
