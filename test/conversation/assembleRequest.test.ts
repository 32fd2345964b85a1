import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import {
  assembleRequest,
  type AssembledRequest,
  RequestAssembler,
} from '../../src/conversation/request/assembleRequest.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { Conversation } from '../../src/conversation/tree/conversation.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { textOf, type Block } from '../../src/protocol/messages.ts'
import { histories } from '../support/arbitraries.ts'
import { pngOf } from '../support/imageBytes.ts'
import { assert, describe } from '../support/suite.ts'
import { LogBuilder, text, toolCall } from './logBuilder.ts'
import { LogPlayer } from './logPlayer.ts'

const frame = { system: 'You test.', tools: [], settings: { temperature: 0 } }
const assembled = (log: LogBuilder) => assembleRequest(rebuildConversation(log.records), frame)
const messagesOf = (log: LogBuilder) => assembled(log).request.messages
const userTexts = (content: readonly Block[]) =>
  content.map((block) => (block.type === 'text' ? block.text : block.type))

describe('a request', (it) => {
  it('holds the frame and the trunk, and says where each message came from', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    log.user('also this', 'steering')
    log.reply('done')
    log.user('then that', 'followUp')
    const { request, provenance } = assembled(log)
    assert.is(request.system, 'You test.')
    assert.equal(request.settings, { temperature: 0 })
    assert.equal(request.messages, [
      { role: 'user', content: text('go') },
      { role: 'assistant', content: [toolCall('a')] },
      { role: 'toolResult', callId: 'a', toolName: 'tool', content: text('result of a'), isError: false },
      { role: 'user', content: text('also this') },
      { role: 'assistant', content: text('done') },
      { role: 'user', content: text('then that') },
    ])
    assert.equal(provenance, [
      { type: 'loopTurn', turnIndex: 0, role: 'user', messageIndex: 0 },
      { type: 'loopTurn', turnIndex: 0, role: 'assistant', messageIndex: 1, calls: 1 },
      { type: 'loopTurn', turnIndex: 0, role: 'toolResult', messageIndex: 2 },
      { type: 'steering' },
      { type: 'loopTurn', turnIndex: 1, role: 'assistant', messageIndex: 1 },
      { type: 'followUp' },
    ])
  })

  it('joins neighbouring user messages, each block its own', () => {
    const log = new LogBuilder()
    log.user('one')
    log.user('two', 'steering')
    assert.equal(messagesOf(log), [{ role: 'user', content: [...text('one'), ...text('two')] }])
    log.user('three', 'followUp')
    const { request, provenance } = assembled(log)
    const merged = provenance[0]?.merged ?? []
    // Each is found in the message by its block.
    assert.equal(
      merged.map(({ block, type }) => [type, request.messages[0]?.content[block!]]),
      [
        ['steering', ...text('two')],
        ['followUp', ...text('three')],
      ],
    )
  })

  it('leaves an open step out', () => {
    const log = new LogBuilder()
    log.user('go')
    log.reply([toolCall('a')])
    assert.is(messagesOf(log).length, 1)
  })

  it('fills an empty result and leaves blank blocks out', () => {
    const log = new LogBuilder()
    log.user([...text(' '), ...text('go')])
    log.reply([...text(''), toolCall('a'), toolCall('b')])
    log.result('a', [])
    log.result('b', ' \n')
    const [user, reply, a, b] = messagesOf(log)
    assert.equal(user?.content, text('go'))
    assert.equal(reply?.content, [toolCall('a'), toolCall('b')])
    assert.ok(textOf(a!.content).trim() !== '')
    assert.ok(textOf(b!.content).trim() !== '')
  })

  it('sends arguments that are no object as an object', () => {
    for (const input of ['{"half":', null, [1, 2], 7]) {
      const log = new LogBuilder()
      log.user('go')
      log.reply([toolCall('a', input)])
      log.result('a')
      const call = messagesOf(log)[1]?.content[0]
      assert.ok(call?.type === 'toolCall')
      assert.equal(call.input, { malformed: input })
    }
  })

  it('keeps signed thinking as it is, and drops that of a reply that was cut off', () => {
    const signed: Block = { type: 'thinking', text: '', signature: 'sealed' }
    const log = new LogBuilder()
    log.user('go')
    log.reply([signed, toolCall('a')])
    log.result('a')
    log.reply([{ type: 'thinking', text: 'half' }, ...text('cut')], { stopReason: 'aborted' })
    log.user('again')
    assert.equal(messagesOf(log)[1]?.content, [signed, toolCall('a')])
    assert.equal(messagesOf(log)[3]?.content, text('cut'))
  })

  it('leaves out a reply with nothing to say, and joins what is around it', () => {
    const log = new LogBuilder()
    log.user('one')
    log.reply([{ type: 'thinking', text: 'half' }], { stopReason: 'aborted' })
    log.user('two')
    assert.equal(messagesOf(log), [{ role: 'user', content: [...text('one'), ...text('two')] }])
  })

  it('keeps images, and what is not blank, word for word', () => {
    const image = { type: 'image', data: pngOf(), mimeType: 'image/png' } as const
    const log = new LogBuilder()
    log.user([image, ...text('  what is this?\n')])
    assert.equal(messagesOf(log)[0]?.content, [image, ...text('  what is this?\n')])
  })

  it('shows a summary in place of its span, then the user messages in it', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    log.user('remember this', 'steering')
    log.step('b')
    log.step('c')
    log.compact({ from: 2, to: 6, kept: [4], summary: 'SUM' })
    const { request, provenance } = assembled(log)
    assert.equal(
      request.messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult'],
    )
    const [go, summary, remember] = userTexts(request.messages[0]!.content)
    assert.is(go, 'go')
    assert.match(summary ?? '', /SUM/)
    assert.is(remember, 'remember this')
    assert.is(provenance.length, 3)
  })

  it('has a result without what only the log says of it', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    Object.assign(log.last('tool.end').message, { synthetic: 'skipped', changed: ['a.ts'] })
    assert.equal(messagesOf(log)[2], {
      role: 'toolResult',
      callId: 'a',
      toolName: 'tool',
      content: text('result of a'),
      isError: false,
    })
  })

  it('ends with what was wrong with the last answer, which leaves no trace in those after it', () => {
    for (const before of ['step', 'user'] as const) {
      const log = new LogBuilder()
      const conversation = new Conversation()
      const assembler = new RequestAssembler(conversation, frame)
      const next = () => {
        for (const record of log.records) conversation.apply(record)
        return assembler.assemble()
      }
      log.user('go <runtime')
      if (before === 'step') log.step('a')
      next()
      log.refuse('no JSON')
      assert.match(textOf(next().request.messages.at(-1)!.content), /no JSON/)
      assert.is(next().provenance.length, next().request.messages.length)
      // What the first message ended with may go on in this one, with which it is sent.
      log.user('-note> really', 'steering')
      const { request, provenance } = next()
      assert.equal([request, provenance], [assembled(log).request, assembled(log).provenance])
      assert.not.match(JSON.stringify(request), /no JSON/)
    }
  })

  it('cuts long tool output after a summary, up to what was recent then', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    log.reply([toolCall('b')])
    log.result('b', 'x'.repeat(1_000))
    log.compact({ from: 2, to: 3, recentTo: 5, maxToolOutputChars: 200 })
    log.reply([toolCall('c')])
    log.result('c', 'y'.repeat(1_000))
    const [b, c] = messagesOf(log).filter(({ role }) => role === 'toolResult')
    assert.ok(textOf(b!.content).length <= 200)
    assert.is(textOf(c!.content).length, 1_000)
  })

  it('goes by the second summary once there is one', () => {
    const log = new LogBuilder()
    log.user('go')
    log.step('a')
    log.step('b')
    log.compact({ from: 2, to: 3, summary: 'FIRST' })
    log.step('c')
    log.compact({ from: 2, to: 5, summary: 'SECOND' })
    const all = JSON.stringify(messagesOf(log))
    assert.not.match(all, /FIRST/)
    assert.match(all, /SECOND/)
    assert.equal(
      messagesOf(log).map(({ role }) => role),
      ['user', 'assistant', 'toolResult'],
    )
  })
})

describe('a request of any history', (it) => {
  it(
    'is the same turn by turn as all at once, has provenance for every message, and is never changed later',
    { timeoutMs: 20_000 },
    () => {
      fc.assert(
        fc.property(histories({ maxLength: 25 }), (history) => {
          const player = new LogPlayer()
          const conversation = new Conversation()
          const assembler = new RequestAssembler(conversation, frame)
          const givenOut: {
            readonly live: AssembledRequest
            readonly fresh: AssembledRequest
            readonly json: string
          }[] = []
          let applied = 0
          for (const happening of history) {
            player.play(happening, () => {
              const { records } = player.log
              for (; applied < records.length; applied++) conversation.apply(records[applied]!)
              const live = assembler.assemble()
              const fresh = assembleRequest(rebuildConversation(records), frame)
              assert.equal([live.request, live.expired], [fresh.request, fresh.expired])
              // Read now and then as the history grows, and of all others afterwards.
              if (givenOut.length % 2 === 1) assert.equal(live.provenance, fresh.provenance)
              givenOut.push({ live, fresh, json: JSON.stringify(live.request) })
            })
          }
          // What is listed only when somebody looks is listed as it was.
          for (const { live, fresh, json } of givenOut) {
            assert.is(JSON.stringify(live.request), json)
            assert.equal(live.told.messages(), live.request.messages)
            assert.equal(live.provenance, fresh.provenance)
            assert.is(live.provenance.length, live.request.messages.length)
          }
        }),
        { seed: 2, numRuns: someRuns(150) },
      )
    },
  )

  it('is valid whenever the model is asked something', { timeoutMs: 20_000 }, () => {
    let asked = 0
    fc.assert(
      fc.property(histories({ maxLength: 25 }), (history) => {
        const player = new LogPlayer()
        player.play({ type: 'user', words: 'go', source: 'prompt' })
        for (const happening of history) {
          player.play(happening)
          if (!player.isAsked) continue
          asked += 1
          const conversation = rebuildConversation(player.log.records)
          assert.equal(checkRequest(assembleRequest(conversation, frame).request, { trunk: conversation.path }), [])
        }
      }),
      { seed: 3, numRuns: someRuns(150) },
    )
    assert.ok(asked > someRuns(1_000))
  })

  it(
    'holds every user message of the trunk once, word for word and in order, under any compaction',
    { timeoutMs: 20_000 },
    () => {
      fc.assert(
        fc.property(histories({ maxLength: 25 }), (history) => {
          const player = new LogPlayer()
          for (const happening of history) player.play(happening)
          const conversation = rebuildConversation(player.log.records)
          const said = conversation.path.flatMap(({ message }) =>
            message.role === 'user' ? [textOf(message.content)] : [],
          )
          const { messages } = assembleRequest(conversation, frame).request
          const shown = messages.flatMap(({ role, content }) => (role === 'user' ? userTexts(content) : []))
          const summaries = shown.filter((one) => one.startsWith('<conversation-summary span='))
          assert.ok(summaries.length <= 1)
          assert.equal(
            shown.filter((one) => !summaries.includes(one)),
            said,
          )
        }),
        { seed: 4, numRuns: someRuns(200) },
      )
    },
  )
})
