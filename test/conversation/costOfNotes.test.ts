import { RequestAssembler, assembleRequest } from '../../src/conversation/request/assembleRequest.ts'
import { Conversation } from '../../src/conversation/tree/conversation.ts'
import { GrowingList } from '../../src/conversation/tree/origins.ts'
import { estimateTokens } from '../../src/conversation/limits/tokenCounter.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { BrakeLog, notesIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'
import { LogBuilder } from './logBuilder.ts'

/** A conversation of so many steps, each with a name of its own. */
function worked(steps: number): BrakeLog {
  const log = new BrakeLog()
  log.user('the task')
  for (let i = 0; i < steps; i++) log.step([{ output: `name${i}Thing ${'x '.repeat(200)}` }])
  return log
}

describe('what notes cost', (it) => {
  it('the index is made once for a request, however many steps are hidden', () => {
    const log = worked(60)
    const { conversation } = log
    const assembler = new RequestAssembler(conversation, log.frame)
    log.fold({ indexTokens: 200 }, true)
    const { hidden } = conversation.annotations!
    let times = 0
    const index = hidden.index.bind(hidden)
    hidden.index = (subject) => {
      times += 1
      return index(subject)
    }
    const { messages } = assembler.assemble(log.turnIndex).request
    assert.is(notesIn(messages).length, 2)
    assert.is(times, 1)
    log.revert(conversation.steps()[20]!.endId)
    times = 0
    assert.equal(
      assembler.assemble(log.turnIndex).request.messages,
      log.assemble().request.messages,
      'a revert changes the index',
    )
    assert.ok(times <= 2)
  })

  for (const decay of ['lazy', 'exact'] as const) {
    it(`old lessons count as long as they are shown, with ${decay} decay`, async (context) => {
      const because = (round: number) => `attempt ${round}: ${'because '.repeat(60)}`
      const rounds = Array.from({ length: 12 }, (_, round) => [
        calls(`a${round}-`, 'look'),
        calls(`b${round}-`, 'look'),
        calls(`c${round}-`, [
          'revert_to_state',
          { category: 'failure', step: `n${3 + 6 * round}`, summary: because(round) },
        ]),
      ])
      const { agent, script, ofType } = await startAgent(context, {
        braking: { revert: { decay, lessonWindowTurns: 1 } },
        tools: [tool('look', () => 'seen', { effects: 'none' })],
        replies: [...rounds.flat(), 'done'],
      })
      await agent.prompt('go').result
      const { messages } = script.requests.at(-1)!
      const lessons = notesIn(messages).filter((note) => note.startsWith('<brake-note kind="lesson"'))
      assert.is(lessons.length, decay === 'lazy' ? 12 : 3)
      const shown = messages.flatMap(({ role, content }) =>
        content.map((block) => estimateTokens.message({ role, content: [block] } as never)),
      )
      const counted = ofType('reply.end').at(-1)!.estimatedTokens - ofType('reply.end')[0]!.estimatedTokens
      const all = shown.reduce((sum, tokens) => sum + tokens, 0)
      assert.ok(Math.abs(counted - all) <= 6 * shown.length, `${counted} for ${all}`)
    })
  }

  it('messages merged into one leave alone what was given out, and a note that is shown once', () => {
    const log = new LogBuilder()
    const conversation = new Conversation()
    const assembler = new RequestAssembler(conversation, { system: '', tools: [], settings: {} })
    const given: { now: () => unknown; before: string }[] = []
    const look = (): void => {
      for (const record of log.records) conversation.apply(record)
      const { request, provenance, told } = assembler.assemble()
      const fresh = assembleRequest(conversation, { system: '', tools: [], settings: {} })
      assert.equal(request.messages, fresh.request.messages)
      assert.equal(provenance, fresh.provenance)
      const now = () => [request.messages, told.messages(), provenance]
      given.push({ now, before: JSON.stringify(now()) })
    }
    log.user('a')
    log.user('b')
    log.refuse('not JSON')
    look()
    log.user('c')
    log.user('d')
    look()
    log.user('e')
    log.user('f')
    log.refuse('not JSON either')
    look()
    log.user('g')
    look()
    log.step('c1')
    look()
    for (const { now, before } of given) assert.is(JSON.stringify(now()), before)
  })

  it('messages merged into one are copied once for a request, not once for each', () => {
    const log = new BrakeLog()
    for (let i = 0; i < 300; i++) log.user(`word ${i}`)
    const arrays = new Set<unknown>()
    const { prototype } = GrowingList<{ content?: unknown }>
    const { replaceLast } = prototype
    prototype.replaceLast = function (item) {
      arrays.add(item.content ?? item)
      replaceLast.call(this, item)
    }
    try {
      assert.is(log.assemble().request.messages[0]?.content.length, 300)
    } finally {
      prototype.replaceLast = replaceLast
    }
    assert.is(arrays.size, 2, 'one of blocks, one of origins')
  })

  it('a summary that is merged into messages before it, and followed by a pinned step, is shown once', () => {
    const log = new BrakeLog()
    const assembler = new RequestAssembler(log.conversation, log.frame)
    for (const word of ['a', 'b', 'c']) log.user(word)
    for (let i = 0; i < 4; i++) log.step([{ output: `output ${i}` }])
    log.pin('n4')
    log.compact({ first: 3, recent: 2 })
    const look = () => assert.equal(assembler.assemble(log.turnIndex).request.messages, log.assemble().request.messages)
    look()
    assert.is(log.prune({ steps: ['n9'] }).applied, true)
    look()
  })

  it('counting them at a change of the trunk does not look at each hidden step', () => {
    const log = worked(600)
    const { conversation } = log
    for (let keepSteps = 550; keepSteps >= 0; keepSteps -= 50)
      log.fold({ keepSteps, work: 1_000_000, cap: 10_000_000 }, true)
    assert.ok(conversation.annotations!.hidden.spans.length >= 10)
    let looks = 0
    const onTrunk = conversation.onTrunk.bind(conversation)
    conversation.onTrunk = (id) => {
      looks += 1
      return onTrunk(id)
    }
    log.revert('n99999')
    assert.ok(conversation.epoch > 0)
    assert.ok(looks < 200, `${looks} looks at 600 hidden steps`)
  })
})
