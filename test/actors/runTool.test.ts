import { createActor, toPromise } from 'xstate'
import { Redactor } from '../../packages/redaction/src/redactor.ts'
import { runTool } from '../../src/actors/calls/runTool.ts'
import { z } from 'zod'
import { defineTool, type Tool, type ToolContext } from '../../src/actors/tools/defineTool.ts'
import { actorPorts, runActor, type RecordedPorts } from '../support/actorPorts.ts'
import { gate, never, quiet, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const call = (name: string, input: unknown = {}) => ({
  agentId: 'a1',
  key: 'k1',
  runId: 'a1/r0',
  turnIndex: 3,
  callId: 'c0',
  name,
  input,
})
const run = (ports: RecordedPorts, name: string, input?: unknown) => runActor(runTool, ports, call(name, input))
const withTools = (...tools: Tool[]): RecordedPorts => actorPorts({ tools })

describe('running a tool', (it) => {
  it('gives its result with the key, an estimate of its tokens and the time', async () => {
    const ports = withTools(tool('look', () => 'x'.repeat(350)))
    await ports.clock.advance(5)
    const output = await run(ports, 'look').output
    assert.equal(
      { ...output, tokens: 0 },
      { key: 'k1', content: [{ type: 'text', text: 'x'.repeat(350) }], isError: false, tokens: 0, at: 1_005 },
    )
    assert.ok(output.tokens >= 100 && output.tokens < 120)
  })

  it('keeps what the tool needs to undo the call, of a failed call too, and only of a tool with undo', async () => {
    const keeping = (name: string, act: (context: ToolContext) => string, reversible = true): Tool =>
      defineTool({
        name,
        description: name,
        input: z.object({}),
        ...(reversible ? { effects: 'reversible', undo: () => {} } : {}),
        run: (_, context) => act(context),
      })
    const given = { id: 7, gone: undefined }
    let late: ToolContext['keep'] = () => {}
    const ports = withTools(
      keeping('twice', ({ keep }) => {
        keep('first')
        keep(given, 'a.txt')
        late = keep
        given.id = 8
        return 'ok'
      }),
      keeping('fails', ({ keep }) => {
        keep([1])
        throw new Error('half way')
      }),
      keeping('large', ({ keep }) => String(keep('x'.repeat(16_001)))),
      keeping('odd', ({ keep }) => String(keep(() => {}))),
      keeping('other', ({ keep }) => String(keep('x')), false),
    )
    const receipts: unknown[] = []
    for (const name of ['twice', 'fails', 'large', 'odd', 'other']) {
      const { receipt, isError } = await run(ports, name).output
      receipts.push([receipt, isError])
      late('late')
    }
    assert.equal(receipts, [
      [{ of: 'a.txt', data: { id: 7 } }, false],
      [{ data: [1] }, true],
      [undefined, true],
      [undefined, true],
      [undefined, false],
    ])
  })

  it('waits until the log is written', async () => {
    const open = gate()
    let ran = 0
    const ports = withTools(tool('look', () => (ran += 1)))
    ports.durable = () => open.promise
    const { output } = run(ports, 'look')
    await quiet()
    assert.is(ran, 0)
    open.resolve()
    await output
    assert.is(ran, 1)
  })

  it('does not run it when the log cannot be written, and says why', async () => {
    let ran = 0
    const ports = withTools(tool('look', () => (ran += 1)))
    ports.durable = () => Promise.reject(new Error('disk full'))
    const output = await run(ports, 'look').output
    assert.is(ran, 0)
    assert.ok(output.notStarted !== undefined && output.isError)
    assert.match(JSON.stringify(output.notStarted), /disk full/)
  })

  it('does not run it when it was stopped before the log was written', async () => {
    const open = gate()
    let ran = 0
    const ports = withTools(tool('look', () => (ran += 1)))
    ports.durable = () => open.promise
    const actor = run(ports, 'look')
    actor.stop()
    open.resolve()
    await quiet()
    assert.is(ran, 0)
  })

  it('gives it its own copy of the input', async () => {
    const input = { list: [1] }
    const ports = withTools(tool('look', (given) => void (given as typeof input).list.push(2)))
    await run(ports, 'look', input).output
    assert.equal(input, { list: [1] })
  })

  it('emits its progress with the place of the call, until it has ended', async () => {
    let report = (_: unknown): void => {}
    const ports = withTools(
      tool('look', (_, context) => {
        report = context.report
        context.report({ step: 1 })
      }),
    )
    await run(ports, 'look').output
    report({ step: 2 })
    assert.equal(ports.emitted, [
      { type: 'tool.progress', runId: 'a1/r0', turnIndex: 3, callId: 'c0', name: 'look', progress: { step: 1 } },
    ])
  })

  it('splits the data URL of an image', async () => {
    const image = { type: 'image', data: 'data:image/png;base64,AAAA', mimeType: 'image/*' }
    const output = await run(withTools(tool('look', () => [image])), 'look').output
    assert.equal(output.content, [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }])
  })

  it('emits no progress after it was stopped', async () => {
    let report = (_: unknown): void => {}
    const ports = withTools(
      tool('look', (_, context) => {
        report = context.report
        return never
      }),
    )
    const actor = run(ports, 'look')
    await quiet()
    actor.stop()
    report('late')
    assert.equal(ports.emitted, [])
  })

  for (const timeoutMs of [1_000, Infinity]) {
    it(`tells it to stop when it is stopped, with a timeout of ${timeoutMs}, and leaves no timer`, async () => {
      let signal: AbortSignal | undefined
      const ports = withTools(
        tool(
          'look',
          (_, context) => {
            signal = context.signal
            return never
          },
          { timeoutMs },
        ),
      )
      const actor = run(ports, 'look')
      await quiet()
      assert.is(ports.clock.pending, timeoutMs === Infinity ? 0 : 1)
      actor.stop()
      assert.is(signal?.aborted, true)
      await quiet()
      assert.is(ports.clock.pending, 0)
    })
  }

  it('tells a tool that asks for its signal only later as well', async () => {
    let signalOf = (): AbortSignal => assert.unreachable()
    const ports = withTools(
      tool('look', (_, context) => {
        signalOf = () => context.signal
        return never
      }),
    )
    const actor = run(ports, 'look')
    await quiet()
    actor.stop()
    assert.is(signalOf().aborted, true)
  })

  it('gives up at the timeout exactly, and leaves no timer when it was quicker', async () => {
    const ports = withTools(
      tool('slow', () => never, { timeoutMs: 100 }),
      tool('quick', () => Promise.resolve('ok'), { timeoutMs: 100 }),
    )
    await run(ports, 'quick').output
    assert.is(ports.clock.pending, 0)
    const { output } = run(ports, 'slow')
    await ports.clock.advance(100)
    const { content, isError } = await output
    assert.is(isError, true)
    assert.match(JSON.stringify(content), /Timed out after 100 ms/)
    assert.is(ports.clock.pending, 0)
  })

  it('answers for a tool that does not exist, and for arguments that do not fit', async () => {
    const ports = withTools(tool('look', () => 'ok'))
    for (const [name, input] of [
      ['lok', {}],
      ['look', 'not json'],
      ['look', 7],
    ] as const) {
      const { isError } = await run(ports, name, input).output
      assert.is(isError, true, name)
    }
  })

  it('tells a tool that asks for its signal after the timeout that its time is up', async () => {
    let signalOf = (): AbortSignal => assert.unreachable()
    const ports = withTools(
      tool(
        'look',
        (_, context) => {
          signalOf = () => context.signal
          return never
        },
        { timeoutMs: 100 },
      ),
    )
    const { output } = run(ports, 'look')
    await ports.clock.advance(100)
    await output
    assert.match(String(signalOf().reason), /Timed out after 100 ms/)
  })

  it('cuts the blocks of a result to its size together, and keeps small ones and images while they fit', async () => {
    const block = (length: number) => ({ type: 'text', text: 'x'.repeat(length) })
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    const ports = withTools(
      tool('fits', () => [block(950), block(50), image], { maxOutputChars: 1_000 }),
      tool('over', () => [block(950), block(51), block(30), image, block(60)], { maxOutputChars: 1_000 }),
      tool('long', () => [block(700), block(5_000), block(5)], { maxOutputChars: 1_000 }),
    )
    const sizesOf = async (name: string) =>
      (await run(ports, name).output).content.map((part) => (part.type === 'text' ? part.text.length : part.type))
    assert.equal(await sizesOf('fits'), [950, 50, 'image'])
    const over = (await run(ports, 'over').output).content
    assert.equal(
      over.slice(0, 3).map((part) => (part.type === 'text' ? part.text.length : part.type)),
      [950, 30, 'image'],
    )
    assert.equal(over.at(-1), { type: 'text', text: '[… 2 more blocks left out …]' })
    const [first, second, ...rest] = await sizesOf('long')
    assert.is(first, 700)
    assert.ok(Number(second) > 200 && Number(second) <= 300)
    assert.is(rest.length, 1)
  })

  it('answers with the message of an error, cut to its size, and what the tool changed before', async () => {
    const ports = withTools(
      tool(
        'look',
        (_, { changed }) => {
          changed('a.txt')
          throw new Error('x'.repeat(5_000))
        },
        { maxOutputChars: 200 },
      ),
    )
    const { content, isError, changed } = await run(ports, 'look').output
    assert.ok(isError)
    assert.equal(changed, ['a.txt'])
    const [block] = content
    assert.ok(block?.type === 'text' && block.text.length <= 200)
  })

  it('lets the event loop turn while many calls of an agent begin and end at once', async () => {
    const ports = withTools(tool('look', () => 'ok'))
    const logic = runTool(() => ports)
    let ended = 0
    const endedAtTurn: number[] = []
    const turn = (): void => {
      endedAtTurn.push(ended)
      if (ended < 100) setImmediate(turn)
    }
    setImmediate(turn)
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        await toPromise(createActor(logic, { input: call('look') }).start())
        ended += 1
      }),
    )
    await quiet()
    for (const [at, count] of endedAtTurn.entries())
      assert.ok(count - (endedAtTurn[at - 1] ?? 0) <= 16, endedAtTurn.join(' '))
    await run(ports, 'look').output
  })

  it('takes secrets out before it cuts', async () => {
    const secret = 'hunter2-of-the-north'
    const ports = withTools(
      tool('text', () => `${'x'.repeat(70)}${secret}${'y'.repeat(500)}`, { maxOutputChars: 200 }),
      tool('fails', () => Promise.reject(new Error(`${'x'.repeat(70)}${secret}${'y'.repeat(500)}`)), {
        maxOutputChars: 200,
      }),
    )
    ports.redactor = new Redactor({ secrets: { A: secret } })
    for (const name of ['text', 'fails']) {
      const { content } = await run(ports, name).output
      assert.match(JSON.stringify(content), /x\[redacted/)
      assert.not.match(JSON.stringify(content), /hunter/)
    }
    const { content } = await run(ports, 'text', `{"a": "${'x'.repeat(185)}${secret}`).output
    assert.not.match(JSON.stringify(content), /hunter/)
  })
})
