import type { Fault } from '../mutate.ts'

const fault = (
  number: number,
  file: string,
  test: string,
  [what, from, to]: readonly [what: string, from: string, to: string],
): Fault => ({ id: `explored-${number}`, file, what, from, to, tests: [test] })

/** Second-order guards, bounds and clean-ups: what happens when something else happens meanwhile. */
export const faults: readonly Fault[] = [
  fault(1, 'packages/groups/src/parallel.ts', 'runtime/groupsExplored', [
    'a branch that was still being opened is asked, and paid for, though the group has failed',
    'hasFailed || agents.isAborted',
    'agents.isAborted',
  ]),
  fault(2, 'packages/groups/src/atMost.ts', 'runtime/groupsExplored', [
    'of two failures each aborts the others once more',
    'if (failure === undefined) failed()',
    'failed()',
  ]),
  fault(3, 'packages/groups/src/groupAgents.ts', 'runtime/groupsExplored', [
    'agents of a group tell each other of their calls after its end',
    '    this.#lessons.end()\n',
    '',
  ]),
  fault(4, 'packages/groups/src/each.ts', 'runtime/eachExplored', [
    'an agent that the application holds is closed with the batch',
    'if (isOurs) await',
    'await',
  ]),
  fault(5, 'src/runtime/agents/unloaded.ts', 'runtime/unloadedExplored', [
    'a second abort ends what was asked between the two',
    " || this.#commands?.at(-1)?.type === 'abort'",
    '',
  ]),
  fault(6, 'src/runtime/agents/agentHost.ts', 'runtime/unloadedExplored', [
    'a run that fails because the runtime closes is an error',
    'endAll(isClosing ? null : toErrorInfo',
    'endAll(toErrorInfo',
  ]),
  fault(7, 'src/runtime/agents/sources.ts', 'runtime/sourcesExplored', [
    'a source that is used again is closed by the timer of when it was left',
    '    held.cancelTimer?.()\n    return held.open',
    '    return held.open',
  ]),
  fault(8, 'src/runtime/agents/hosts.ts', 'runtime/bookkeeping', [
    'the end of an agent takes its successor off the list',
    'if (this.#hosts.get(agentId) === host) this',
    'this',
  ]),
  fault(9, 'packages/waking/src/logStanding.ts', 'waking/test/restingRules', [
    'what waited in the source of a fork is under way in the fork',
    'if (record.forkedFrom !== undefined) this.#messages = new WaitingMessages()',
    '',
  ]),
  fault(10, 'src/runtime/agents/settled.ts', 'runtime/settledRules', [
    'an agent that was only unloaded meanwhile is told to have stopped',
    '(change(agent), signal)\n      continue',
    "(change(agent), signal)\n      if (!agent.isLoaded) return { status: 'stopped', seq: agent.view.lastSeq }\n      continue",
  ]),
  fault(11, 'src/runtime/letGo.ts', 'waking/test/restingRules', [
    'commands that wait for an unloaded agent are dropped when it is let go of',
    'host.isLoaded || host.machine.unseen > 0',
    'host.isLoaded',
  ]),
  fault(12, 'packages/waking/src/waitingList.ts', 'waking/test/restingRules', [
    'every log that was ever looked at is remembered',
    '    if (this.#kept.size > mostKept) this.#kept.delete(this.#kept.keys().next().value!)\n',
    '',
  ]),
  fault(13, 'src/runtime/resumable.ts', 'runtime/commandRules', [
    'a message that waits in the log begins without the deps that it needs',
    ' || queues.prompts.length > 0)',
    ')',
  ]),
  fault(14, 'src/runtime/openLease.ts', 'runtime/openLease', [
    'who closes the runtime while a log is locked hears that it is locked',
    '      opener.checkOpen()\n      if (!hasCode',
    '      if (!hasCode',
  ]),
  fault(15, 'src/runtime/agents/commands.ts', 'runtime/commandRules', [
    'prunes wait without a limit',
    'checkRoom(asked, definition, askedBrakes[kind].queue)',
    "if (kind !== 'prune') checkRoom(asked, definition, askedBrakes[kind].queue)",
  ]),
  fault(16, 'src/runtime/children/continued.ts', 'runtime/waitForTexts', [
    'the model is not told of the agent that it called in the same turn',
    '  await parent.log.durable()\n  const earlier',
    '  const earlier',
  ]),
  fault(17, 'src/actors/models/heardGate.ts', 'actors/modelRules', [
    'a model that is given up for its silence is never told to clean up',
    '    void leave(parts)\n    answer',
    '    answer',
  ]),
  fault(18, 'src/actors/turn/readReply.ts', 'actors/readReply', [
    'warnings of a model may be larger than any log',
    '        this.#chars += part.message.length\n',
    '',
  ]),
  fault(19, 'src/actors/parts/artifacts/keepResult.ts', 'actors/keptWhole', [
    'where one part could not be kept, every text of the result says so',
    "block.type === 'text' && block.text === told",
    "block.type === 'text'",
  ]),
  fault(20, 'packages/redaction/src/openEnds.ts', 'redaction/test/shapes', [
    'a stream lets out "Bearer" before it is known what follows',
    "if (text.endsWith('Bearer', before) && before < text.length) start = before - 6\n",
    '',
  ]),
  fault(21, 'packages/bridge/src/server/commandTable.ts', 'packages/bridge/test/server/takenIds', [
    'a client learns that somebody else has an agent of an id',
    'throw (await bridge.agents.isBeyond(id, access)) ? newOutOfReach() : thrown',
    'throw thrown',
  ]),
  fault(22, 'packages/cluster/src/gateway/gateway.ts', 'packages/cluster/test/gateway/chosenAgents', [
    'a client of a gateway learns that somebody else has an agent of an id',
    'if (taken !== undefined && !reaches(',
    'if (taken === undefined && !reaches(',
  ]),
  fault(23, 'src/runtime/agents/unloaded.ts', 'runtime/unloadedExplored', [
    'who listened to an unloaded agent hears of its log after it was closed',
    '    this.#owner.announcer.over()\n',
    '',
  ]),
  fault(24, 'src/runtime/agents/settled.ts', 'runtime/settledRules', [
    'an agent that was unloaded while its log was written is told to be where it was',
    'agent.isLoaded ? stands(agent) : undefined',
    'stands(agent)',
  ]),
  fault(25, 'src/runtime/agents/hosts.ts', 'runtime/bookkeeping', [
    'the log of an agent that was unloaded once is not released again',
    '      this.#releasing.delete(host)\n',
    '',
  ]),
  fault(26, 'src/runtime/agents/machine.ts', 'runtime/unloadedExplored', [
    'who waits for the end of an agent hears of it when that is unloaded',
    '    if (this.unloaded !== undefined) return\n    this.next()',
    '    if (this.unloaded === undefined) this.next()',
  ]),
]
