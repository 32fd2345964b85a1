import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'pins-1',
    file: 'src/conversation/brakes/prune/prune.ts',
    what: 'a prune hides a pinned step',
    from: `if (annotations?.isPinned(id) === true) return 'is pinned'`,
    to: '',
    tests: ['braking/pins'],
  },
  {
    id: 'pins-2',
    file: 'src/conversation/brakes/revert/revert.ts',
    what: 'a revert takes a pinned step off the trunk',
    from: 'const pinned = pinnedWithin(conversation, span)',
    to: 'const pinned = pinnedWithin(conversation, [])',
    tests: ['braking/pins'],
  },
  {
    id: 'pins-3',
    file: 'src/conversation/request/overlay.ts',
    what: 'a compaction does not leave pinned steps as they are',
    from: ' || annotations?.pinned.has(node.stepId) === true',
    to: '',
    tests: ['braking/pins'],
  },
  {
    id: 'pins-4',
    file: 'src/conversation/request/overlay.ts',
    what: 'the results of a pinned step are cut after a compaction',
    from: ' || uncut?.includes(id) === true',
    to: '',
    tests: ['braking/pins', 'braking/properties'],
  },
  {
    id: 'pins-5',
    file: 'src/conversation/brakes/pins/pins.ts',
    what: 'a hidden step is pinned, and stays hidden',
    from: `annotations?.hiddenBy(step) === undefined ? undefined : 'is hidden already'`,
    to: 'undefined',
    tests: ['braking/pins'],
  },
  {
    id: 'pins-6',
    file: 'src/conversation/brakes/pins/pins.ts',
    what: 'a pinned summary is abandoned by a revert',
    from: 'if (overlay?.from === node.id && annotations.pinned.has(overlay.nodeId)) return overlay.nodeId',
    to: '',
    tests: ['braking/pins'],
  },
  {
    id: 'pins-7',
    file: 'src/conversation/request/assembleRequest.ts',
    what: 'after a restart a pin changes how requests are rendered',
    from: 'this.#conversation.annotations?.hasNotes !== true',
    to: 'this.#conversation.annotations === undefined',
    tests: ['braking/pins'],
  },
  {
    id: 'pins-8',
    file: 'src/actors/brakes/pins/drainPins.ts',
    what: 'of two requests in one drain the second does not know of the first',
    from: 'decidePin(conversation, request, decided)',
    to: 'decidePin(conversation, request)',
    tests: ['braking/pins'],
  },
  {
    id: 'pins-9',
    file: 'src/conversation/tree/conversation.ts',
    what: 'the model is told of a refusal that only a person asked for',
    from: `if (record.reason !== undefined && by === 'model') this.#notify({ kind: 'refusal', text: record.reason })
    if (!record.applied) return
    this.#changed(`,
    to: `if (record.reason !== undefined) this.#notify({ kind: 'refusal', text: record.reason })
    if (!record.applied) return
    this.#changed(`,
    tests: ['braking/personPrunes'],
  },
  {
    id: 'pins-10',
    file: 'src/machines/guards.ts',
    what: 'a pin of an agent at rest waits for the next run',
    from: '    pinRequested(subject) ||\n    revertEnabled',
    to: '    revertEnabled',
    tests: ['machines/compaction'],
  },
  {
    id: 'pins-11',
    file: 'src/log/requestIndex.ts',
    what: 'a prune that a client sends again is made twice',
    from: `    case 'prune.requested':
`,
    to: '',
    tests: ['braking/personPrunes'],
  },
]
