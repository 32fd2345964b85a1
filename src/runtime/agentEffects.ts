import type { FindPorts } from '../actors/agentPorts.ts'
import { askHook } from '../actors/askHook.ts'
import { compactTrunk } from '../actors/compactTrunk.ts'
import { consultPolicies } from '../actors/consultPolicies.ts'
import { drains } from '../actors/drains.ts'
import { prepareTurn } from '../actors/prepareTurn.ts'
import { runTool } from '../actors/runTool.ts'
import { settle } from '../actors/settle.ts'
import { sleep } from '../actors/sleep.ts'
import { streamReply } from '../actors/streamReply.ts'
import { undoCall } from '../actors/undoCall.ts'
import type { Clock } from '../protocol/clock.ts'

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
