import { runTool } from '../../src/actors/calls/runTool.ts'
import { recallTool, type RecallCall } from '../../src/actors/brakes/recall/recallTool.ts'
import { actorPorts, runActor, type RecordedPorts } from '../support/actorPorts.ts'
import { Redactor } from '../../packages/redaction/src/redactor.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { quiet } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { toolContext } from '../support/toolContext.ts'

const call = (input: unknown) => ({
  agentId: 'a1',
  key: 'k1',
  runId: 'a1/r0',
  turnIndex: 3,
  callId: 'c0',
  name: 'recall',
  input,
})

/** The ports of an agent whose steps n2, n4, … have these outputs and are hidden. */
function hiding(...outputs: readonly string[]): RecordedPorts {
  const log = new BrakeLog()
  log.user('go')
  const steps = outputs.map((output) => `n${log.step([{ output }])}`)
  log.step([{ output: 'last' }])
  log.prune({ steps })
  return Object.assign(actorPorts({ braking: { recall: true } }), { conversation: log.conversation })
}

async function recalled(ports: RecordedPorts, input: unknown): Promise<{ text: string; isError: boolean }> {
  const { content, isError } = await runActor(runTool, ports, call(input)).output
  return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join(), isError }
}

/** As many as are looked for. */
const words = Array.from({ length: 32 }, (_, n) => `absent${n}`).join(' ')

describe('the tool recall', (it) => {
  it('answers by step, by query, and by both', async () => {
    const ports = hiding('the first', 'the second')
    for (const [input, text] of [
      [{ step: 'n2' }, 'n2 (hidden):\ncalls tool\nresult of tool\nthe first'],
      [{ query: 'second' }, 'n4 (hidden):\ncalls tool\nresult of tool\nthe second'],
      [{ step: 'n5', query: 'second' }, 'n4 (hidden):\ncalls tool\nresult of tool\nthe second'],
      [{ step: '', query: 'second' }, 'n4 (hidden):\ncalls tool\nresult of tool\nthe second'],
      [{ step: 'n2', query: ' ' }, 'n2 (hidden):\ncalls tool\nresult of tool\nthe first'],
      [{ step: 'n2', from: 3 }, /^n2 \(hidden\), line 3 of 3:\nthe first\n/],
      [{ step: 'n2', lines: 1 }, /^n2 \(hidden\), line 1 of 3:\ncalls tool\n/],
    ] as const) {
      const answer = await recalled(ports, input)
      assert.is(answer.isError, false)
      if (typeof text === 'string') assert.is(answer.text, text)
      else assert.match(answer.text, text)
    }
  })

  it('answers a bad request with an error that says what to do', async () => {
    const ports = hiding('seen')
    for (const [input, text] of [
      [{}, /give "step", "query" or both/],
      [{ step: ' ', query: '' }, /give "step", "query" or both/],
      [{ step: 5 }, /step: give a string/],
      [{ step: 'n'.repeat(41) }, /step: .*40 characters/],
      [{ step: 'n99' }, /There is no step "n99": the newest is n5\./],
      [{ step: 'n5' }, /n5 is shown in full above\./],
      [{ query: 'x'.repeat(100_000) }, /query: .*1000 characters/],
      [{ query: '?!' }, /"\?!" holds no word and no name/],
      [{ step: '?!', query: '?!' }, /"\?!" holds no word and no name/],
      [{ query: 'seen', lines: 0 }, /lines: give 1 to 400/],
      [{ query: 'seen', lines: -1 }, /lines: give 1 to 400/],
      [{ query: 'seen', lines: 1e9 }, /lines: give 1 to 400/],
      [{ query: 'seen', lines: 1.5 }, /lines: give 1 to 400/],
      [{ query: 'seen', from: 1 }, /"from" needs a "step"/],
      [{ step: 'n2', from: 0 }, /lines are counted from 1/],
      [{ step: 'n2', from: 4 }, /n2 has 3 lines/],
      ['not JSON', /not valid JSON/],
    ] as const) {
      const answer = await recalled(ports, input)
      assert.ok(answer.isError, JSON.stringify(input).slice(0, 80))
      assert.match(answer.text, text)
      assert.ok(answer.text.length < 400, answer.text)
    }
  })

  it('says when nothing is hidden', async () => {
    const ports = actorPorts({ braking: { recall: true } })
    assert.equal(await recalled(ports, { query: 'hello' }), {
      text: 'Nothing is hidden: every step is shown in full above.',
      isError: true,
    })
    assert.match((await recalled(ports, { step: 'n1' })).text, /n1 is shown in full above/)
  })

  it('keeps secrets out of what it quotes of its input', async () => {
    const ports = hiding('seen')
    ports.redactor = new Redactor({ secrets: { TOKEN: 'hunter2-of-the-north' } })
    const { text } = await recalled(ports, { query: 'hunter2-of-the-north' })
    assert.match(text, /^No hidden step holds anything of/)
    assert.not.match(text, /hunter2/)
  })

  it('gives the event loop turns during a long search', { timeoutMs: 20_000 }, async () => {
    const ports = hiding(...Array.from({ length: 8 }, () => 'Xy '.repeat(1_000_000)))
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const { text } = await recalled(ports, { query: words })
    isOver = true
    assert.match(text, /^No hidden step/)
    // How many it needs is the machine's speed.
    assert.ok(turns > 0)
  })

  it('ends a search that is aborted', { timeoutMs: 20_000 }, async () => {
    const { conversation } = hiding(...Array.from({ length: 8 }, () => 'Xy '.repeat(1_000_000)))
    let read = 0
    const watched = new Proxy(conversation, {
      get(target, name) {
        if (name === 'node') return (id: number) => target.node((read = id))
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const controller = new AbortController()
    const made = recallTool().run({ query: words }, toolContext()) as RecallCall
    const answer = made.answer(watched, controller.signal)
    controller.abort(new Error('no longer needed'))
    await assert.rejects(answer, /no longer needed/)
    const before = read
    assert.ok(before < conversation.lastNodeId, `${before}`)
    await quiet()
    assert.is(read, before)
  })
})
