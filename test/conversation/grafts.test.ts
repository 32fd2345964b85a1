import { assembleRequest } from '../../src/conversation/request/assembleRequest.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { wrongInGraft } from '../../src/conversation/brakes/graft/grafts.ts'
import { planGraft } from '../../src/conversation/brakes/graft/planGraft.ts'
import { toolCallsOf, type Block } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { BrakeLog, notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'
import { abandoned, graft } from './abandonedLogs.ts'

describe('a graft', (it) => {
  it('appends copies of whole steps in their order, with calls of their own, and shows where they come from', () => {
    const log = abandoned()
    log.step([{ name: 'other' }])
    const before = log.assemble().request.messages
    const outcome = log.graft('n6', 'n2')
    assert.equal(outcome, {
      id: 'g1',
      applied: true,
      requested: ['n6', 'n2'],
      copies: graft([
        [9, 2],
        [10, 3],
        [11, 4],
        [12, 5],
        [13, 6],
      ]),
    })
    const { conversation } = log
    assert.equal(log.trunkIds(), [1, 7, 8, 9, 10, 11, 12, 13])
    assert.is(conversation.head, 13)
    const { request } = log.assemble()
    assert.equal(request.messages.slice(0, before.length), before, 'what stood there is as it was')
    assert.equal(checkRequest(request, { trunk: conversation.path }), [])
    assert.equal(notesIn(request.messages.slice(before.length)), [
      '<brake-note kind="graft" span="n2–n3">copied from an abandoned branch; nothing was run again</brake-note>',
      '<brake-note kind="graft" span="n4–n6">copied from an abandoned branch; nothing was run again</brake-note>',
    ])
    const copies = conversation.trunk().slice(3)
    assert.equal(
      copies.map(({ stepId, copiedFrom }) => [stepId, copiedFrom]),
      [
        [9, 2],
        [9, 3],
        [11, 4],
        [11, 5],
        [11, 6],
      ],
    )
    const calls = copies.flatMap(({ message }) => (message.role === 'assistant' ? toolCallsOf(message.content) : []))
    assert.equal(
      calls.map(({ callId, name }) => [callId, name]),
      [
        ['graft10', 'look'],
        ['graft12', 'edit'],
        ['graft13', 'check'],
      ],
    )
    for (const { callId } of calls) assert.ok(conversation.hasCall(callId), 'no reply may use it again')
    const provenance = log.assemble().provenance
    assert.equal(provenance.at(-4), { type: 'note', kind: 'graft' })
  })

  it('leaves out what belongs to its place: thinking, what a provider did, files changed, what was paid', () => {
    const log = abandoned()
    log.graft('n2', 'n4')
    const copies = log.conversation.trunk().slice(1)
    const content: readonly Block[] = copies.flatMap(({ message }) => message.content)
    assert.not.ok(content.some(({ type }) => type === 'thinking'))
    for (const { message, isIrreversible } of copies) {
      assert.is(isIrreversible, undefined)
      assert.not.ok('changed' in message)
    }
  })

  it('finds another id for a call where a model has made up the same', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ name: 'look' }])
    log.revert('n1')
    const { conversation } = log
    const own: Block = { type: 'toolCall', callId: 'graft9', name: 'look', input: {} }
    const message = { role: 'assistant', content: [own], stopReason: 'toolUse', usage: noUse, model: 'm' }
    const place = { v: 3, time: 9, runId: 'a/r0', turnIndex: 2 }
    const seq = log.records.length
    const result = { role: 'toolResult', callId: 'graft9', toolName: 'look', content: [], isError: false }
    for (const record of [
      { ...place, seq: seq + 1, type: 'reply.end', nodeId: 4, parentId: 1, message, costUsd: 0, estimatedTokens: 0 },
      { ...place, seq: seq + 2, type: 'tool.end', nodeId: 5, parentId: 4, callId: 'graft9', key: 'k', message: result },
      {
        ...place,
        seq: seq + 3,
        type: 'graft.applied',
        id: 'g',
        applied: true,
        copies: graft([
          [6, 2],
          [7, 3],
        ]),
      },
    ])
      conversation.apply(record as unknown as LogRecord)
    assert.equal(callIdsOn(conversation), ['graft9', 'graft7'])
    const again = { ...place, seq: seq + 4, type: 'revert.applied', id: 'r', applied: true, category: 'failure' }
    const tag = { kind: 'lesson', text: 't', turnIndex: 2, abandoned: [6, 7], evidence: { calls: [], changed: [] } }
    conversation.apply({ ...again, requested: 'n5', target: 5, tag } as unknown as LogRecord)
    const last = { ...place, seq: seq + 5, type: 'graft.applied', id: 'h', applied: true }
    conversation.apply({
      ...last,
      copies: graft([
        [8, 2],
        [9, 3],
      ]),
    } as unknown as LogRecord)
    assert.equal(callIdsOn(conversation), ['graft9', 'graft9x'])
  })

  it('of words alone is valid wherever it stands: after words, before words, at the end', () => {
    const log = new BrakeLog()
    log.user('go')
    log.reply('first')
    log.revert('n1')
    log.reply('second')
    log.revert('n1')
    log.reply('third')
    log.graft('n2', 'n3')
    const { request } = log.assemble()
    assert.equal(checkRequest(request, { trunk: log.conversation.path }), [])
    assert.equal(
      request.messages.map(({ role }) => role),
      ['user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'user'],
    )
    assert.match(textIn(request.messages.slice(-1)), /^<brake-note kind="graft">n6 ends here<\/brake-note>$/)
    const bare = assembleRequest(log.conversation, { system: 's', tools: [], settings: {} })
    assert.equal(checkRequest(bare.request), [], 'without brakes too')
  })

  it('of a graft is a copy of the first original', () => {
    const log = abandoned()
    log.graft('n3')
    log.revert('n1')
    assert.equal(
      log.graft('n8').copies,
      graft([
        [9, 2],
        [10, 3],
      ]),
    )
    assert.equal(callIdsOn(log.conversation), ['graft10'])
  })

  it('brings back what a revert of the same drain has just abandoned', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ output: 'the port is 8123' }])
    log.step([
      { name: 'revert_to_state', output: 'asked' },
      { name: 'look', output: 'seen' },
    ])
    log.revert('n1')
    const outcome = log.graft('n2', 'n4')
    assert.equal(
      outcome.copies,
      graft([
        [7, 2],
        [8, 3],
        [9, 4],
        [10, 6],
      ]),
    )
    assert.equal(callIdsOn(log.conversation), ['graft8', 'graft10'], 'what asked for the revert is left out')
    assert.equal(checkRequest(log.assemble().request, { trunk: log.conversation.path }), [])
  })

  it('counts its tokens and those of its notes as the request has them', () => {
    const log = abandoned()
    const { counter } = log.conversation
    const before = log.conversation.trunkTokens
    log.graft('n2')
    const copies = log.conversation.trunk().slice(1)
    const messages = copies.reduce((sum, { message }) => sum + counter.message(message), 0)
    const note = notesIn(log.assemble().request.messages).at(-1)!
    assert.is(log.conversation.trunkTokens, before + messages + counter.text(note))
    log.step([{}])
    log.prune({ steps: ['n7'] })
    assert.not.match(textIn(log.assemble().request.messages), /kind="graft"/)
  })
})

const noUse = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

const callIdsOn = (conversation: BrakeLog['conversation']): string[] =>
  conversation.trunk().flatMap(({ message }) => (message.role === 'toolResult' ? [message.callId] : []))

describe('a graft that is refused', (it) => {
  const reasonOf = (log: BrakeLog, ...steps: string[]) => {
    const trunk = log.trunkIds()
    const { applied, reason } = log.graft(...steps)
    assert.equal([applied, log.trunkIds()], [false, trunk], reason)
    return reason
  }

  it('says why, and copies nothing', () => {
    const log = abandoned()
    log.step([{ output: 'shown' }])
    assert.is(reasonOf(log, 'n99'), 'graft refused: n99 not found')
    assert.is(reasonOf(log, 'the first'), 'graft refused: "the first" is not the id of a step')
    assert.is(reasonOf(log, 'n8'), 'graft refused: n8 is on the trunk already')
    assert.is(reasonOf(log, 'n1'), 'graft refused: n1 is a message of the user, and those are never repeated')
    log.graft('n3')
    assert.is(reasonOf(log, 'n2'), 'graft refused: n2 is on the trunk already, as n9')
    assert.is(reasonOf(log, 'n10'), 'graft refused: n10 is on the trunk already')
    log.step([{}])
    log.prune({ steps: ['n9'] })
    assert.is(reasonOf(log, 'n3'), 'graft refused: n3 is on the trunk, as n9, but hidden: recall reads it')
    assert.is(reasonOf(log, 'n9'), 'graft refused: n9 is on the trunk, but hidden: recall reads it')
    const blind = log.grafts([['n9']], { canRecall: false })[0]
    assert.is(blind?.reason, 'graft refused: n9 is on the trunk, but hidden')
    const summary = log.compact({ recent: 1 })!
    assert.is(reasonOf(log, 'n7'), `graft refused: n7 is on the trunk, but compacted into n${summary}: recall reads it`)
    assert.is(
      reasonOf(log, `n${summary}`),
      `graft refused: n${summary} is a summary, not a step: name the steps that it stands for`,
    )
  })

  it('copies the others where one of several cannot be, and names each once', () => {
    const log = abandoned()
    const { applied, copies, reason } = log.graft('n2', 'n1', 'n3', 'n5')
    assert.equal([applied, copies.map(({ from }) => from)], [true, [2, 3, 4, 5, 6]])
    assert.is(reason, 'graft refused: n1 is a message of the user, and those are never repeated; n3 is named twice')
    assert.match(notesIn(log.assemble().request.messages).join('\n'), /kind="refusal">graft refused: n1 is/)
  })

  it('knows of those before it in the same drain', () => {
    const log = abandoned()
    const [, second] = log.grafts([['n2'], ['n2', 'n4']])
    assert.equal(
      [second?.copies.map(({ nodeId }) => nodeId), second?.reason],
      [[9, 10, 11], 'graft refused: n2 is on the trunk already, as n7'],
    )
  })

  it('finds nothing to copy in thinking and in requests to reshape the conversation', () => {
    const log = new BrakeLog()
    log.user('go')
    log.step([{ name: 'revert_to_state' }], { thinking: 'hm' })
    log.revert('n1')
    assert.match(reasonOf(log, 'n2') ?? '', /^graft refused: n2 holds nothing to copy: thinking and requests/)
  })

  it('is for a step whose call still runs', () => {
    const log = new BrakeLog()
    log.user('go')
    const content: Block[] = [{ type: 'toolCall', callId: 'c', name: 'look', input: {} }]
    const message = { role: 'assistant', content, stopReason: 'toolUse', usage: noUse, model: 'm' }
    const reply = { v: 3, seq: 2, time: 2, runId: 'a/r0', turnIndex: 0, type: 'reply.end', nodeId: 2, parentId: 1 }
    log.conversation.apply({ ...reply, message, costUsd: 0, estimatedTokens: 0 } as unknown as LogRecord)
    const plan = (step: string) =>
      planGraft(log.conversation, { id: 'g', by: 'person', steps: [step] }, situation).outcome.reason
    for (const step of ['n2', 'n3'])
      assert.is(plan(step), `graft refused: ${step} is not finished: a call still waits for its result`)
    assert.is(plan('n4'), 'graft refused: n4 not found')
  })

  it('is for more than fits, and for more steps than anybody needs at once', () => {
    const log = abandoned()
    const [outcome] = log.grafts([['n2']], { room: 10 })
    assert.match(
      outcome?.reason ?? '',
      /^graft refused: there is room for 10 tokens, and the copies have \d+: compact or hide something first/,
    )
    assert.is(
      reasonOf(log, ...Array.from({ length: 101 }, () => 'n2')),
      'graft refused: it names 101 steps, and at most 100 can be copied at once',
    )
    assert.match(reasonOf(log, ...Array.from({ length: 12 }, (_, at) => `n${at + 50}`)) ?? '', /and 2 more$/)
    assert.is(reasonOf(log), 'graft refused: it names no step')
  })

  it('tells the model, and no model of what a person asked for', () => {
    const log = abandoned()
    const notes = () => notesIn(log.assemble().request.messages).filter((note) => note.includes('refusal'))
    log.grafts([['n99']], {}, 'person')
    assert.equal(notes(), [])
    log.grafts([['n99']])
    assert.equal(notes(), ['<brake-note kind="refusal">graft refused: n99 not found</brake-note>'])
  })
})

const situation = { asking: new Set<string>(), canRecall: false, room: Infinity, lastNodeId: 3, taken: new Map() }

describe('a graft that a log tells of', (it) => {
  const told = (copies: readonly (readonly [number, number])[], applied = true) => {
    const log = abandoned()
    log.step([{ name: 'other' }])
    return wrongInGraft({ id: 'g1', applied, requested: ['n2'], copies: graft(copies) }, log.conversation)
  }

  it('is taken where its copies follow from the conversation', () => {
    for (const copies of [
      [
        [9, 2],
        [10, 3],
      ],
      [
        [9, 4],
        [10, 6],
      ],
    ] as const)
      assert.is(told(copies), undefined, JSON.stringify(copies))
    assert.is(told([], false), undefined)
  })

  for (const [why, copies, applied] of [
    ['it copies nothing', []],
    ['it was refused, and copies', [[9, 2]], false],
    ['its ids are not the next', [[10, 2]]],
    ['it copies what is not there, or a copy', [[9, 99]]],
    ['it copies a message of a person', [[9, 1]]],
    [
      'it copies what is on the trunk',
      [
        [9, 7],
        [10, 8],
      ],
    ],
    [
      'its steps are not in order',
      [
        [9, 4],
        [10, 5],
        [11, 2],
        [12, 3],
      ],
    ],
    ['it copies a result without its call', [[9, 3]]],
    ['a copy of it says nothing', [[9, 2]]],
  ] as const)
    it(`is corrupt where ${why}`, () => assert.is(told(copies, applied), why))
})
