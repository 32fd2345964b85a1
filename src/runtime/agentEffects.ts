import type { FindPorts } from '../actors/agentPorts.ts'
import { askHook } from '../actors/calls/askHook.ts'
import { compactTrunk } from '../actors/brakes/compaction/compactTrunk.ts'
import { consultPolicies } from '../actors/brakes/policies/consultPolicies.ts'
import { drains } from '../actors/brakes/drains.ts'
import { prepareTurn } from '../actors/turn/prepareTurn.ts'
import { runTool } from '../actors/calls/runTool.ts'
import { settle } from '../actors/turn/settle.ts'
import { sleep } from '../actors/timing/sleep.ts'
import { streamReply } from '../actors/turn/streamReply.ts'
import { undoCall } from '../actors/calls/undoCall.ts'
import type { Clock } from '../protocol/ports/clock.ts'

/** The effects of agents, as `agentMachine` names them; but for sub-agents, which are machines. */
export const agentEffects = (find: FindPorts, clock: Clock) => ({
  prepareTurn: prepareTurn(find),
  streamReply: streamReply(find),
  askHook: askHook(find),
  runTool: runTool(find),
  settle: settle(find),
  compactTrunk: compactTrunk(find),
  sleep: sleep(clock),
  undoCall: undoCall(find),
  ...drains(find),
  consultPolicies: consultPolicies(find),
})
