import { defineAgent } from '../../define/src/defineAgent.ts'
import { textOf, type AssistantMessage, type ToolResultMessage } from '../../../src/protocol/messages.ts'
import type { ModelRequest } from '../../../src/protocol/ports/model.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { ends, Lives, until } from '../../../test/support/lives.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { codeTool } from '../src/codeTool.ts'
import { engine, inner, noting, scripted, scripting } from './scriptedAgent.ts'

const read = noting('read', [])

describe('a script of a model', (it) => {
  it('calls tools, and only what it prints and returns reaches the model', async (context) => {
    const requests: ModelRequest[] = []
    const code =
      'const all = await Promise.all(["a", "b"].map((to) => tools.read({ to }))); console.log("two"); return all'
    const coder = defineAgent({
      name: 'coder',
      model: scripting(code, requests),
      tools: [codeTool([read], { only: true, engine })],
    })
    const life = await new Lives(context).begin(coder, 'go')
    await ends(life.agent)
    const said = requests[1]!.messages.at(-1)!
    assert.is(said.role === 'toolResult' && textOf(said.content), 'two\n["read a","read b"]')
    assert.equal(Object.keys(said), ['role', 'callId', 'toolName', 'content', 'isError'])
    assert.equal(
      requests[0]!.tools.map(({ name }) => name),
      ['run_code'],
    )
    const { a1 } = await life.logs()
    assert.equal(
      inner(a1!, 'inner.start').map(({ n, name, input, key }) => [n, name, input, key]),
      [
        [1, 'read', { to: 'a' }, 'a1/t0/tool/call_0_0/c1'],
        [2, 'read', { to: 'b' }, 'a1/t0/tool/call_0_0/c2'],
      ],
    )
    assert.equal(
      inner(a1!, 'inner.end').map(({ n, value }) => [n, value]),
      [
        [1, 'read a'],
        [2, 'read b'],
      ],
    )
  })

  it('is told of what fails: unknown tools, arguments, errors; and goes on', async (context) => {
    const fails = noting('fails', [], {
      run: () => {
        throw Object.assign(new Error('disk full'), { code: 'ENOSPC' })
      },
    })
    const code = `const tried = []
for (const work of [() => tools.reed({}), () => tools.read({ to: 7 }), () => tools.fails({}), () => tools.$find('read')])
  tried.push(await work().then((text) => text.slice(0, 13), (e) => [e.code, e.message.slice(0, 60)]))
return tried`
    const life = await new Lives(context).begin(scripted(code, [read, fails]), 'go')
    await ends(life.agent)
    const { text } = life.agent.conversation
      .trunk()
      .slice(-1)
      .map((node) => ({ text: textOf(node.message.content) }))[0]!
    assert.equal(
      JSON.parse(text.replace('It said: ', '')),
      [
        ['UNKNOWN_TOOL', 'There is no tool "reed". The nearest: read.'],
        ['INVALID_INPUT', (JSON.parse(text.replace('It said: ', '')) as string[][])[1]![1]],
        ['ENOSPC', 'disk full'],
        '/** Does read.',
      ].map((one) => (typeof one === 'string' ? one.slice(0, 13) : one)),
    )
  })

  it('waits for people as a call does, and reads their denial as an error', async (context) => {
    const ran: string[] = []
    const pay = noting('pay', ran, { effects: 'irreversible', needsApproval: true })
    const code =
      'const said = []; for (const to of ["a", "b"]) said.push(await tools.pay({ to }).catch((e) => e.code + " " + e.message)); return said'
    const life = await new Lives(context).begin(scripted(code, [pay]), 'go')
    const over = ends(life.agent)
    for await (const event of life.agent.events()) {
      if (event.type === 'approval.requested') {
        const [waiting] = life.agent.pending()
        assert.equal(
          [waiting?.kind, waiting?.name, waiting?.key, waiting?.input],
          ['approval', 'pay', event.key, event.input],
        )
        const { to } = event.input as { to: string }
        if (to === 'a') life.agent.decide(event.key, 'approve', { input: { to: 'c' } })
        else life.agent.decide(event.key, 'deny', { reason: 'too much' })
      }
      if (event.type === 'run.end') break
    }
    await over
    assert.equal(ran, ['a1/t0/tool/call_0_0/c1'])
    const [result, last] = life.agent.conversation
      .trunk()
      .slice(-2)
      .map(({ message }) => message) as [ToolResultMessage, AssistantMessage]
    assert.is(result.calls, '1 call: denied pay {"to":"b"}, pay {"to":"c"}')
    assert.is(textOf(last.content), 'It said: ["pay c","DENIED Denied by the user: it was not run. Reason: too much"]')
  })

  it('passes every call through the hooks of the agent', async (context) => {
    const seen: string[] = []
    const code =
      'return [await tools.read({ to: "a" }), await tools.read({ to: "b" }).catch((e) => e.code), await tools.read({ to: "c" }), await tools.read({ to: "d" })]'
    const coder = scripted(code, [read], {
      beforeTool: ({ name, input, callId }) => {
        seen.push(`${callId} ${name}`)
        const { to } = input as { to?: string }
        if (to === 'b') return { deny: 'not b' }
        if (to === 'c') return { result: 'answered' }
        return to === 'd' ? { input: { to: 'e' } } : undefined
      },
      afterTool: ({ name }, { content }) => (name === 'read' ? { result: `${textOf(content)}!` } : undefined),
    })
    const life = await new Lives(context).begin(coder, 'go')
    await ends(life.agent)
    assert.is(
      textOf(life.agent.conversation.trunk().at(-1)!.message.content),
      'It said: ["read a!","DENIED","answered","read e!"]',
    )
    assert.equal(seen, ['call_0_0 run_code', ...[1, 2, 3, 4].map((n) => `call_0_0/${n} read`)])
  })

  it('calls nothing more once the time of its run is over', async (context) => {
    const lives = new Lives(context)
    const ran: string[] = []
    const slow = noting('slow', ran, {
      run: async () => {
        await lives.clock.advance(2_000)
        return 'late'
      },
    })
    const code = 'const first = await tools.slow(); return [first, await tools.slow().catch((e) => e.code)]'
    const life = await lives.begin(scripted(code, [slow], { limits: { ms: 1_000 } }), 'go')
    await until(life.agent, ({ type }) => type === 'tool.end')
    const { a1 } = await life.logs()
    const end = a1!.find((record) => record.type === 'tool.end')
    assert.is(end?.type === 'tool.end' && textOf(end.message.content), '["late","LIMIT"]')
    assert.is(ran.length, 1)
  })

  it('is ended by an abort, with the calls that are under way', async (context) => {
    let wasAborted = false
    const running = Promise.withResolvers<void>()
    const hold = noting('hold', [], {
      run: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => (wasAborted = true))
          running.resolve()
        }),
    })
    const life = await new Lives(context).begin(scripted('return await tools.hold()', [hold]), 'go')
    const over = ends(life.agent)
    await running.promise
    life.agent.abort()
    await over
    assert.ok(wasAborted)
    const { a1 } = await life.logs()
    assert.equal(inner(a1!, 'inner.end'), [])
    assert.is(
      a1!.some((record) => record.type === 'tool.end' && record.message.synthetic === 'aborted'),
      true,
    )
  })
})

describe('codeTool', (it) => {
  const model = scriptedModel([])
  const refused: readonly (readonly [what: string, make: () => unknown, message: RegExp])[] = [
    ['no tools', () => defineAgent({ name: 'a', model, tools: [codeTool([], { engine })] }), /codeTool: give a list/],
    ['a group', () => codeTool([codeTool([read], { engine })] as never), /a group cannot be in a group/],
    ['an unknown option', () => codeTool([read], { onli: true } as never), /codeTool: .*onli/],
    ['a limit that is none', () => codeTool([read], { limits: { cpuMs: 0 } }), /codeTool: limits.*cpuMs/],
    ['a name that no provider takes', () => codeTool([read], { name: 'run code' }), /use 1 to 64 letters/],
    [
      'two tools of a name',
      () => defineAgent({ name: 'a', model, tools: [codeTool([read], { name: 'read', engine })] }),
      /two tools are named "read"/,
    ],
  ]
  for (const [what, make, message] of refused)
    it(`refuses ${what}`, () => {
      assert.throws(make, message)
    })

  it('lists the tools beside scripts, or leaves them to scripts alone', () => {
    const named = (only: boolean): string[] =>
      defineAgent({ name: 'a', model, tools: [codeTool([read], { only, engine })] }).toolSpecs.map(({ name }) => name)
    assert.equal([named(false), named(true)], [['read', 'run_code'], ['run_code']])
  })

  it('declares as many tools as there is room for, and names the others', () => {
    const tools = Array.from({ length: 40 }, (_, n) => noting(`tool_${n}`, []))
    const { toolSpecs } = defineAgent({
      name: 'a',
      model,
      tools: [codeTool(tools, { only: true, declareChars: 400, engine })],
    })
    const { description } = toolSpecs[0]!
    assert.match(description, /tool_0\(input/)
    assert.not.match(description, /tool_39\(input/)
    assert.match(description, /further tools: .*tool_39\. "await tools\.\$find/)
  })

  it('leaves requests of agents without it as they are', async () => {
    const plain = defineAgent({ name: 'a', model, tools: [read] })
    assert.equal(
      plain.toolSpecs.map(({ name }) => name),
      ['read'],
    )
    assert.is(plain.deferred, null)
  })
})
