import { runTool } from '../../src/actors/runTool.ts'
import type { Tool } from '../../src/actors/tools/defineTool.ts'
import { actorPorts, runActor, type RecordedPorts } from '../support/actorPorts.ts'
import { gate, never, quiet, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const call = (name: string, input: unknown = {}) => ({
  agentId: 'a1',
  key: 'k1',
  loopId: 'a1/r0',
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
      { type: 'tool.progress', loopId: 'a1/r0', turnIndex: 3, callId: 'c0', name: 'look', progress: { step: 1 } },
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
})
