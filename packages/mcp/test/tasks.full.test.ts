import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { mcpTools } from '../../../src/mcp.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { judge, judged } from '../../../test/judges/judge.ts'
import { until } from '../../../test/support/lives.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { clerkWith } from '../../a2a/test/clerk.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { cliCommand, projectFolder, startChild } from '../../cli/test/cliChild.ts'
import { reference } from './client/referenceServer.ts'
import { openHost } from './server/mcpHarness.ts'
import { finish, leadOf, live, logIn } from './tasksHarness.ts'
import { serveTasks } from './tasksServer.ts'

const timeoutMs = 120_000

interface Task {
  readonly taskId: string
  readonly status: string
}

type Told =
  | { readonly type: 'taskCreated' | 'taskStatus'; readonly task: Task }
  | { readonly type: 'result'; readonly result: { readonly content: readonly { readonly text: string }[] } }
  | { readonly type: 'error'; readonly error: Error }

/** A client of the SDK of the protocol of 2025-11-25. */
interface TasksClient {
  setRequestHandler(
    schema: unknown,
    answer: (request: { readonly params: { readonly message: string } }) => object,
  ): void
  connect(transport: object): Promise<void>
  close(): Promise<void>
  readonly experimental: {
    readonly tasks: {
      callToolStream(params: object, schema: unknown, options: object): AsyncGenerator<Told, void, undefined>
      getTask(taskId: string): Promise<Task>
      getTaskResult(
        taskId: string,
        schema: unknown,
      ): Promise<{ readonly content: readonly { readonly text: string }[] }>
      listTasks(): Promise<{ readonly tasks: readonly Task[] }>
      cancelTask(taskId: string): Promise<Task>
    }
  }
}

async function connectSdk(port: number, asked: string[] = []) {
  const { Client } = await judge<{ Client: new (info: object, options: object) => TasksClient }>(
    '@modelcontextprotocol/sdk/client/index.js',
  )
  const { StreamableHTTPClientTransport } = await judge<{ StreamableHTTPClientTransport: new (url: URL) => object }>(
    '@modelcontextprotocol/sdk/client/streamableHttp.js',
  )
  const { ElicitRequestSchema, CallToolResultSchema } = await judge<{ readonly [name: string]: unknown }>(
    '@modelcontextprotocol/sdk/types.js',
  )
  const client = new Client({ name: 'sdk', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { approve: true } }
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)))
  const { tasks } = client.experimental
  const call = (task: string) =>
    tasks.callToolStream({ name: 'clerk', arguments: { task } }, CallToolResultSchema, { task: {} })
  return { client, tasks, call, schema: CallToolResultSchema }
}

describe('a task of a server that is not ours', (each) => {
  const it = judged(each)

  it('tells how far it is, and has people asked', { timeoutMs }, async (context) => {
    const lead = defineAgent({
      name: 'lead',
      tools: [mcpTools({ ...reference('everything', 'stdio'), approve: 'none' })],
      model: policyModel(({ messages }) => {
        const last = messages.at(-1)!
        if (last.role === 'toolResult') return textOf(last.content)
        return { toolCalls: [{ name: 'simulate-research-query', input: { topic: 'time', ambiguous: true } }] }
      }),
    })
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(lead)
    const progress: unknown[] = []
    agent.subscribe((event) => {
      if (event.type === 'tool.progress') progress.push(event.progress)
      if (event.type === 'question.asked') agent.decide(event.key, { value: { interpretation: 'technical' } })
    })
    const { text } = await agent.prompt('go').result
    assert.match(text, /^# Research Report: time \(technical\)/)
    const told = JSON.stringify(progress)
    assert.match(told, /"status":"working","message":"Gathering sources\.\.\."/)
    assert.match(told, /"status":"input_required","message":"Found multiple interpretations/)
    assert.match(told, /"status":"completed"/)
  })

  it('is begun at most once, whenever our process is killed', { timeoutMs }, async (context) => {
    const { port, begun } = await serveTasks(context, Promise.resolve())
    const lead = leadOf(port, 'work')
    const whole = await finish(await live(context, lead))
    assert.equal([whole.said, begun()], ['worked', 1])
    const first = whole.log.findIndex(({ type }) => type === 'child.noted') + 1
    const said: string[] = []
    for (let length = first; length < whole.log.length - 1; length++)
      said.push((await finish(await live(context, lead, { a1: whole.log.slice(0, length) }))).said)
    assert.is(begun(), 1)
    assert.match(said[0]!, /^The MCP server "office" was being told to begin a task when this process ended/)
    assert.ok(said.length > 1 && said.slice(1).every((one) => one === 'worked'), said.join('\n'))
  })

  it('is an error once its time is over', { timeoutMs }, async (context) => {
    const { port } = await serveTasks(context, new Promise(() => {}), 300)
    const { said } = await finish(await live(context, leadOf(port, 'work')))
    assert.match(said, /^The MCP server "office" no longer has the task "\w+" \(it keeps a task for 0\.3 s\): /)
  })

  it('is cancelled with the call', { timeoutMs }, async (context) => {
    const { port } = await serveTasks(context, new Promise(() => {}))
    const life = await live(context, leadOf(port, 'work'))
    await until(life.agent, ({ type }) => type === 'tool.progress')
    const noted = (await logIn(life)).findLast((record) => record.type === 'child.noted')
    life.agent.abort()
    const { tasks } = await connectSdk(port)
    const { taskId } = noted!.handle as { readonly taskId: string }
    while ((await tasks.getTask(taskId)).status !== 'cancelled') context.signal.throwIfAborted()
  })
})

describe('a task of our agents for a client that is not ours', (each) => {
  const it = judged(each)

  it('is begun, asks, ends and is cancelled, and the next process answers the same', { timeoutMs }, async (context) => {
    const store = memoryStore()
    const paid: string[] = []
    const first = await openHost(context, [clerkWith(paid)], { store })
    const asked: string[] = []
    const { client, tasks, call, schema } = await connectSdk(first.server.port, asked)
    const states: string[] = []
    let said = ''
    let taskId = ''
    for await (const told of call('pay the bill')) {
      if (told.type === 'taskCreated' || told.type === 'taskStatus') {
        states.push(told.task.status)
        ;({ taskId } = told.task)
      } else if (told.type === 'result') said = told.result.content[0]!.text
      else throw (told as Extract<Told, { type: 'error' }>).error
    }
    assert.equal([states[0], states.at(-1), said, paid.length], ['working', 'input_required', 'Done: paid 5', 1])
    assert.match(asked.join('\n'), /^May clerk-\S+ call pay \{"sum":5\}\?$/)
    const waiting = call('wait')
    const begun = (await waiting.next()).value as { readonly task: Task }
    const cancelled = await tasks.cancelTask(begun.task.taskId)
    assert.is(cancelled.status, 'cancelled')
    const again = await tasks.cancelTask(begun.task.taskId).catch((thrown: unknown) => thrown)
    assert.match((again as Error).message, /-32602: The task ".*" cannot be cancelled: cancelled\./)
    const before = await tasks.listTasks()
    await client.close()
    await first.runtime.close()
    const second = await openHost(context, [clerkWith(paid)], { store })
    const next = await connectSdk(second.server.port)
    assert.equal(await next.tasks.listTasks(), before)
    assert.equal(before.tasks.map(({ status }) => status).toSorted(), ['cancelled', 'completed'])
    assert.is((await next.tasks.getTaskResult(taskId, schema)).content[0]!.text, 'Done: paid 5')
    assert.is(paid.length, 1)
    await next.client.close()
  })
})

const script = join(import.meta.dirname, 'tasksChild.ts')

describe('an MCP server that is killed in the middle of a task', (it) => {
  it(
    'goes on with it in its next life, and what is done once is done once',
    { timeoutMs: 300_000 },
    async (context) => {
      for (let records = 2; records <= 12; records += 2) {
        const folder = projectFolder(context)
        const start = (port: string, most: number) =>
          startChild(context, cliCommand([folder, port, `${most}`], script), { cwd: folder })
        const first = start('0', records)
        await first.until('port ')
        while (!first.stdout.includes('\n')) await new Promise((resolve) => setTimeout(resolve, 5))
        const port = Number(/port (\d+)/.exec(first.stdout)![1])
        const second = first.ended.then(() => start(`${port}`, 0))
        const { said } = await finish(await live(context, leadOf(port, 'pay the bill')))
        assert.match(said, /^Done: /, `after ${records} records: ${said}`)
        const file = join(folder, 'paid')
        const paid = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
        assert.ok(
          paid.length <= 1 && (paid.length === 1 || /not known|interrupted/i.test(said)),
          `${records}: ${paid.join()} ${said}`,
        )
        ;(await second).signal('SIGKILL')
      }
    },
  )
})
