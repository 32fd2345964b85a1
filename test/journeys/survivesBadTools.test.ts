import { z } from 'zod'
import { defineTool, type Tool } from '../../src/actors/tools/defineTool.ts'
import { calls, done, gate, never, quiet, resultsOf, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

/** The result the model reads when it calls the tool once. */
async function resultOf(
  context: CaseContext,
  bad: Tool,
  input: unknown = {},
): Promise<{ text: string; isError: boolean }> {
  const { agent, script } = await startAgent(context, {
    tools: [bad],
    replies: [calls('c', [bad.name, input]), 'went on', 'again'],
  })
  const result = await agent.prompt('go').result
  assert.equal([result.stopReason, result.text], ['stop', 'went on'])
  const message = script.requests[1]!.messages[2]!
  if (message.role !== 'toolResult') return assert.unreachable('no result')
  await agent.prompt('again').result
  return { text: resultsOf(script.requests[1])[0]!, isError: message.isError }
}

describe('a tool that misbehaves', (it) => {
  const thrown: readonly (readonly [string, unknown, RegExp])[] = [
    ['an error', new Error('the disk is full'), /^the disk is full$/],
    ['an error without a message', new TypeError(''), /TypeError/],
    ['a string', 'just a string', /^just a string$/],
    ['an empty string', '', /empty string/],
    ['undefined', undefined, /^undefined$/],
    ['null', null, /^null$/],
    ['an object', { code: 7 }, /^\{"code":7\}$/],
    [
      'a circular object',
      (() => {
        const loop: { self?: unknown } = {}
        loop.self = loop
        return loop
      })(),
      /object Object/,
    ],
    ['a symbol', Symbol('odd'), /odd/],
    ['a BigInt', 10n, /10|BigInt/],
    ['an error whose message is no string', Object.assign(new Error('x'), { message: 42 }), /./],
    [
      'an error whose message throws',
      Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('gotcha')
        },
      }),
      /./,
    ],
    ['an object without a prototype', Object.create(null), /./],
  ]
  for (const [what, value, expected] of thrown) {
    it(`by throwing ${what} becomes an error the model can read`, async (context) => {
      const { text, isError } = await resultOf(
        context,
        tool('bad', () => {
          throw value
        }),
      )
      assert.is(isError, true)
      assert.match(text, expected)
    })
  }

  it('by rejecting becomes an error the model can read', async (context) => {
    assert.equal(
      await resultOf(
        context,
        tool('bad', () => Promise.reject(new Error('nope'))),
      ),
      { text: 'nope', isError: true },
    )
  })

  const returned: readonly (readonly [string, unknown, RegExp, boolean])[] = [
    ['nothing', undefined, /^\(no output\)$/, false],
    ['null', null, /^null$/, false],
    ['an empty string', '', /^\(no output\)$/, false],
    ['white space', ' \n ', /^\(no output\)$/, false],
    ['a number', 42, /^42$/, false],
    ['an object', { a: [1, null] }, /^\{"a":\[1,null\]\}$/, false],
    ['an empty list', [], /^\[\]$/, false],
    ['a list of words', ['a', 'b'], /^\["a","b"\]$/, false],
    [
      'blocks',
      [
        { type: 'text', text: 'one' },
        { type: 'text', text: ' two' },
      ],
      /^one two$/,
      false,
    ],
    ['a block of unknown type', [{ type: 'video', data: 'x' }], /video/, false],
    ['an image without a type', [{ type: 'image', data: 'x', mimeType: undefined }], /./, false],
    ['a function', () => 1, /^\[a function, which is no JSON\]$/, false],
    [
      'a circular object',
      (() => {
        const loop: { self?: unknown } = {}
        loop.self = loop
        return loop
      })(),
      /not JSON/,
      true,
    ],
    ['a BigInt', 10n, /not JSON/, true],
    [
      'an object whose getter throws',
      {
        get x() {
          throw new Error('gotcha')
        },
      },
      /gotcha/,
      true,
    ],
    [
      'a proxy that throws',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('gotcha')
          },
          has: () => {
            throw new Error('gotcha')
          },
        },
      ),
      /gotcha/,
      true,
    ],
    [
      'a thenable that rejects',
      // oxlint-disable-next-line unicorn/no-thenable -- that is the point
      { then: (_: unknown, reject: (error: Error) => void) => reject(new Error('later')) },
      /later/,
      true,
    ],
  ]
  for (const [what, value, expected, isError] of returned) {
    it(`by returning ${what} gives the model something it can read`, async (context) => {
      const result = await resultOf(
        context,
        tool('bad', () => value),
      )
      assert.match(result.text, expected)
      assert.is(result.isError, isError)
    })
  }

  it('by returning a huge text is cut, with a marker', async (context) => {
    const { text } = await resultOf(
      context,
      tool('bad', () => `start${'x'.repeat(5_000_000)}end`, { maxOutputChars: 1_000 }),
    )
    assert.ok(text.length < 1_200, `${text.length} characters`)
    assert.match(text, /^start.*\[… 4999072 of 5000008 characters left out …\].*end$/s)
  })

  it('by throwing a huge text is cut, with a marker', async (context) => {
    const { text, isError } = await resultOf(
      context,
      tool(
        'bad',
        () => {
          throw new Error('x'.repeat(1_000_000))
        },
        { maxOutputChars: 1_000 },
      ),
    )
    assert.ok(text.length < 1_200 && isError)
  })

  it('by returning many long blocks is cut as a whole', async (context) => {
    const blocks = Array.from({ length: 50 }, () => ({ type: 'text', text: 'y'.repeat(1_000) }))
    const { text } = await resultOf(
      context,
      tool('bad', () => blocks, { maxOutputChars: 1_000 }),
    )
    assert.ok(text.length < 2_000, `${text.length} characters`)
  })

  it('by never settling is given up at its timeout, and told so', async (context) => {
    let signal: AbortSignal | undefined
    const hang = tool(
      'hang',
      (_, toolContext) => {
        signal = toolContext.signal
        return never
      },
      { timeoutMs: 5_000 },
    )
    const { agent, clock, script, until } = await startAgent(context, {
      tools: [hang],
      replies: [calls('c', 'hang'), 'went on'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    await clock.advance(4_999)
    assert.is(agent.state, 'executing')
    await clock.advance(1)
    assert.is((await run.result).text, 'went on')
    assert.match(resultsOf(script.requests[1])[0]!, /Timed out after 5000 ms/)
    assert.is(signal?.aborted, true)
    assert.instance(signal?.reason, Error)
  })

  it('by settling after its timeout changes nothing', async (context) => {
    const open = gate<string>()
    const { agent, clock, script, until, ofType } = await startAgent(context, {
      tools: [tool('late', () => open.promise, { timeoutMs: 10 })],
      replies: [calls('c', 'late'), 'went on'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    await clock.advance(10)
    await run.result
    open.reject(new Error('too late'))
    await quiet()
    assert.is(ofType('tool.end').length, 1)
    assert.not.match(JSON.stringify(script.requests), /too late/)
  })

  it('by rejecting when its signal aborts is not unhandled', async (context) => {
    const polite = tool(
      'polite',
      (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
    )
    const { agent, until } = await startAgent(context, { tools: [polite], replies: [calls('c', 'polite'), 'fine'] })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start')
    await quiet()
    agent.abort()
    await run.result
    await quiet()
    assert.is((await agent.prompt('again').result).text, 'fine')
  })

  it('by reporting odd things, and after its end, harms nobody', async (context) => {
    const loop: { self?: unknown } = {}
    loop.self = loop
    let late = (): void => {}
    const noisy = tool('noisy', (_, { report }) => {
      for (const progress of [undefined, null, 10n, loop, () => 1]) report(progress)
      late = () => report('late')
      return 'ok'
    })
    const { agent, ofType } = await startAgent(context, { tools: [noisy], replies: [calls('c', 'noisy'), 'fine'] })
    await agent.prompt('go').result
    late()
    assert.is(ofType('tool.progress').length, 5)
  })

  it('by changing its input or its result later does not change the log', async (context) => {
    const result = [{ type: 'text', text: 'first' }]
    const sly = tool(
      'sly',
      (input) => {
        ;(input as { list: number[] }).list.push(99)
        return result
      },
      { input: z.object({ list: z.any() }) },
    )
    const { agent } = await startAgent(context, { tools: [sly], replies: [calls('c', ['sly', { list: [1] }]), 'fine'] })
    await agent.prompt('go').result
    result.push({ type: 'text', text: 'second' })
    const [, reply, end] = agent.conversation.trunk().map(({ message }) => JSON.stringify(message.content))
    assert.match(reply!, /\[1\]/)
    assert.equal(JSON.parse(end!), [{ type: 'text', text: 'first' }])
  })
})

describe('a call the model got wrong', (it) => {
  it('to an unknown tool is answered with the names of the real ones', async (context) => {
    const { agent, script } = await startAgent(context, {
      tools: [tool('look', () => 'x'), tool('find', () => 'x')],
      replies: [calls('c', 'lok'), 'sorry'],
    })
    assert.is((await agent.prompt('go').result).text, 'sorry')
    assert.match(resultsOf(script.requests[1])[0]!, /no tool "lok".*look, find/)
  })

  it('to any tool when there are none is answered so', async (context) => {
    const { agent, script } = await startAgent(context, { replies: [calls('c', 'lok'), 'sorry'] })
    await agent.prompt('go').result
    assert.match(resultsOf(script.requests[1])[0]!, /You have no tools/)
  })

  it('with arguments that are not JSON never runs and goes back as an object', async (context) => {
    let ran = 0
    const { agent, script } = await startAgent(context, {
      tools: [tool('look', () => (ran += 1))],
      replies: [calls('c', ['look', '{"path": "a']), 'sorry'],
    })
    await agent.prompt('go').result
    assert.is(ran, 0)
    assert.match(resultsOf(script.requests[1])[0]!, /not valid JSON.*\{"path": "a/)
    assert.equal(script.requests[1]!.messages[1]!.content, [
      { type: 'toolCall', callId: 'c0', name: 'look', input: { malformed: '{"path": "a' } },
    ])
  })

  it('with arguments that do not fit never runs, and is told which', async (context) => {
    let ran = 0
    const strict = defineTool({
      name: 'strict',
      description: 'x',
      input: z.object({ path: z.string(), deep: z.object({ n: z.number() }) }),
      run: () => (ran += 1),
    })
    const { agent, script } = await startAgent(context, {
      tools: [strict],
      replies: [
        calls('c', ['strict', { path: 1, deep: { n: 'x' } }], ['strict', null], ['strict', [1]], ['strict', 5]),
        'sorry',
      ],
    })
    await agent.prompt('go').result
    assert.is(ran, 0)
    const results = resultsOf(script.requests[1])
    assert.match(results[0]!, /Invalid arguments: path: .*deep\.n: /)
    assert.ok(results.every((text) => /Invalid arguments/.test(text)))
  })

  it('with a schema that throws or waits is answered, not crashed', async (context) => {
    const throwing = tool('throwing', () => 'x', {
      input: z.object({ a: z.any() }).transform(() => {
        throw new Error('in a transform')
      }) as never,
    })
    const waiting = tool('waiting', () => 'x', { input: z.object({ a: z.any() }).refine(async () => true) as never })
    const { agent, script } = await startAgent(context, {
      tools: [throwing, waiting],
      replies: [calls('c', ['throwing', { a: 1 }], ['waiting', { a: 1 }]), 'sorry'],
    })
    assert.is((await agent.prompt('go').result).text, 'sorry')
    for (const text of resultsOf(script.requests[1])) assert.match(text, /could not be checked/)
  })

  it('with an id that was used before, twice at once, or is empty gets an id of its own', async (context) => {
    const call = (callId: string) => ({ type: 'toolCall', callId, name: 'look', input: {} }) as const
    const ask = (...ids: string[]) => ({ parts: [done(ids.map(call), { stopReason: 'toolUse' })] })
    const { agent, ofType } = await startAgent(context, {
      tools: [tool('look', () => 'x')],
      replies: [ask('a', 'a', ''), ask('a', 'b', 'a_t1_0', ''), 'end'],
    })
    assert.is((await agent.prompt('go').result).text, 'end')
    const ids = ofType('tool.end').map(({ callId }) => callId)
    assert.is(ids.length, 7)
    assert.is(new Set(ids).size, 7)
  })

  it('with a made-up id that the runtime would have chosen still gets one of its own', async (context) => {
    const call = (callId: string) => ({ type: 'toolCall', callId, name: 'look', input: {} }) as const
    const ask = (...ids: string[]) => ({ parts: [done(ids.map(call), { stopReason: 'toolUse' })] })
    const { agent, ofType } = await startAgent(context, {
      tools: [tool('look', () => 'x')],
      replies: [ask('x', 'x_t1_0'), ask('x'), 'end'],
    })
    assert.is((await agent.prompt('go').result).text, 'end')
    assert.is(new Set(ofType('tool.end').map(({ callId }) => callId)).size, 3)
  })

  it('three hundred times in one reply gets three hundred answers', { timeoutMs: 10_000 }, async (context) => {
    const { agent, script } = await startAgent(context, {
      compaction: false,
      maxCallsPerReply: 300,
      tools: [tool('look', (input) => (input as { n: number }).n)],
      replies: [calls('c', ...Array.from({ length: 300 }, (_, n) => ['look', { n }] as const)), 'end'],
    })
    assert.is((await agent.prompt('go').result).text, 'end')
    assert.equal(
      resultsOf(script.requests[1]),
      Array.from({ length: 300 }, (_, n) => String(n)),
    )
  })
})
