import { TaskState } from '@a2a-js/sdk'
import { assert, describe } from '../../../test/support/suite.ts'
import { lastingStore, serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { a2a } from '../src/server/a2a.ts'
import { dataIn, textInTask } from '../src/messages.ts'
import { clerkWith, clientOf, heard, say, statusText } from './clerk.ts'
import type { CaseContext } from '../../../test/support/suite.ts'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { ServeOptions } from '../../bridge/src/server/serveOptions.ts'
import type { RuntimeOptions } from '../../runtime/src/runtimeOptions.ts'

async function serve(
  context: CaseContext,
  clerk: AgentDefinition = clerkWith(),
  options: Partial<ServeOptions> & { readonly runtime?: RuntimeOptions } = {},
) {
  const house = await serveAgents(context, [clerk], { endpoints: [a2a({ definitions: [clerk] })], ...options })
  return { ...house, url: `http://127.0.0.1:${house.server.port}/a2a/clerk` }
}

const isTask = <T>(answer: T): Extract<T, { artifacts: unknown }> => answer as Extract<T, { artifacts: unknown }>

describe('an agent served by A2A, asked by the SDK’s own client', (it) => {
  it('answers a message with a completed task', async (context) => {
    const client = await clientOf((await serve(context)).url)
    const task = isTask(await client.sendMessage(say('Hello')))
    assert.is(task.status?.state, TaskState.TASK_STATE_COMPLETED)
    assert.is(textInTask(task), 'You said: Hello')
    assert.equal((await client.getTask({ tenant: '', id: task.id })).artifacts, task.artifacts)
    // The same context remembers.
    const next = isTask(await client.sendMessage(say('Again', { contextId: task.contextId })))
    assert.is(next.contextId, task.contextId)
    const { tasks } = await client.listTasks({
      tenant: '',
      contextId: task.contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    })
    assert.equal(
      tasks.map(({ id }) => id),
      [task.id, next.id],
    )
  })

  it('streams: the task, what it asks, and after a second message the rest', async (context) => {
    const paid: string[] = []
    const client = await clientOf((await serve(context, clerkWith(paid))).url)
    const first = await heard(client.sendMessageStream(say('pay the bill')))
    assert.is(first.kinds[0]?.startsWith('task:'), true)
    assert.match(first.kinds.at(-1)!, new RegExp(`:${TaskState.TASK_STATE_INPUT_REQUIRED}$`))
    const { id: taskId } = first.task
    const waiting = await client.getTask({ tenant: '', id: taskId })
    assert.match(statusText(waiting), /May .* call pay.*5/s)
    assert.equal(paid, [])
    await assert.rejects(heard(client.sendMessageStream(say('perhaps', { taskId }))), /answer with yes or no/)
    const second = await heard(client.sendMessageStream(say('yes', { taskId })))
    assert.is(second.kinds.at(-1), `statusUpdate:${TaskState.TASK_STATE_COMPLETED}`)
    assert.ok(second.kinds.includes('artifactUpdate'))
    assert.is(paid.length, 1)
    const done = await client.getTask({ tenant: '', id: taskId })
    assert.equal(
      done.artifacts.flatMap(({ parts }) => dataIn(parts)),
      [{ paid: 5 }],
    )
    await assert.rejects(client.sendMessage(say('more', { taskId })), /is over/)
  })

  it('takes a no, with the reason, and an answer to a question', async (context) => {
    const paid: string[] = []
    const client = await clientOf((await serve(context, clerkWith(paid))).url)
    const asked = isTask(await client.sendMessage(say('pay')))
    const denied = isTask(await client.sendMessage(say('no, too dear', { taskId: asked.id })))
    assert.is(denied.status?.state, TaskState.TASK_STATE_COMPLETED)
    assert.match(textInTask(denied), /too dear/)
    assert.equal(paid, [])
    const question = isTask(await client.sendMessage(say('ask')))
    assert.match(statusText(question), /Which colour\?/)
    await assert.rejects(client.sendMessage(say('blue', { taskId: question.id })), /red, green/)
    const answered = isTask(await client.sendMessage(say('green', { taskId: question.id })))
    assert.match(textInTask(answered), /It is green\./)
  })

  it('returns at once if it is asked to, cancels, and says how a task failed', async (context) => {
    const client = await clientOf((await serve(context)).url)
    const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true }
    const begun = isTask(await client.sendMessage({ ...say('wait'), configuration }))
    assert.ok([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING].includes(begun.status!.state))
    const cancelled = await client.cancelTask({ tenant: '', id: begun.id, metadata: undefined })
    assert.is(cancelled.status?.state, TaskState.TASK_STATE_CANCELED)
    await assert.rejects(client.cancelTask({ tenant: '', id: begun.id, metadata: undefined }), /is over/)
    const failed = isTask(await client.sendMessage(say('fail')))
    assert.is(failed.status?.state, TaskState.TASK_STATE_FAILED)
  })

  it('is followed again after its client has left, which aborts nothing', async (context) => {
    const gate = Promise.withResolvers<void>()
    const client = await clientOf((await serve(context, clerkWith([], gate.promise))).url)
    const leaving = new AbortController()
    let id = ''
    try {
      for await (const { payload } of client.sendMessageStream(say('wait'), { signal: leaving.signal })) {
        if (payload?.$case === 'task') id = payload.value.id
        leaving.abort()
      }
    } catch {
      // It has left.
    }
    const rest = client.resubscribeTask({ tenant: '', id })
    assert.is((await rest.next()).value?.payload?.$case, 'task')
    gate.resolve()
    assert.is((await heard(rest)).kinds.at(-1), `statusUpdate:${TaskState.TASK_STATE_COMPLETED}`)
    await assert.rejects(heard(client.resubscribeTask({ tenant: '', id })), /is over/)
  })

  it('carries a message out once that is sent twice', async (context) => {
    const { url, runtime } = await serve(context)
    const client = await clientOf(url)
    const messageId = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'
    const [one, two] = await Promise.all([
      client.sendMessage(say('Hello', { messageId })),
      client.sendMessage(say('Hello', { messageId })),
    ])
    assert.is(isTask(one).id, isTask(two).id)
    assert.is(runtime.agents().length, 1)
  })

  it('is the log, and nothing beside it: the next process answers the same', async (context) => {
    const store = lastingStore()
    const first = await serve(context, clerkWith(), { runtime: { store } })
    const asked = isTask(await (await clientOf(first.url)).sendMessage(say('pay')))
    await first.runtime.close()
    const second = await serve(context, clerkWith(), { runtime: { store } })
    const client = await clientOf(second.url)
    assert.is((await client.getTask({ tenant: '', id: asked.id })).status?.state, TaskState.TASK_STATE_INPUT_REQUIRED)
    const done = isTask(await client.sendMessage(say('yes', { taskId: asked.id })))
    assert.match(textInTask(done), /Done: paid 5/)
  })
})

describe('the door of A2A', (it) => {
  it('lets everyone do what their role may, and shows nobody what is out of reach', async (context) => {
    const tokens = { ['t'.repeat(20)]: 'admin', ['v'.repeat(20)]: 'observe' } as const
    const { url } = await serve(context, clerkWith(), { tokens: { ...tokens } })
    assert.is((await fetch(`${url}/.well-known/agent-card.json`)).status, 401)
    const rpc = async (
      token: string,
      method: string,
      params: object,
    ): Promise<{ result?: unknown; error?: { message: string; code: number } }> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      return (await response.json()) as never
    }
    const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] }
    const mayNot = await rpc('v'.repeat(20), 'SendMessage', { message })
    assert.match(mayNot.error?.message ?? '', /BRIDGE_FORBIDDEN.*right "talk"/)
    const made = (await rpc('t'.repeat(20), 'SendMessage', { message })) as { result: { task: { id: string } } }
    const { id } = made.result.task
    assert.ok((await rpc('v'.repeat(20), 'GetTask', { id })).result)
    const unknown = await rpc('t'.repeat(20), 'GetTask', { id: `${id}x` })
    assert.equal(
      [unknown.error?.code, (await rpc('t'.repeat(20), 'GetTask', { id: 'nonsense' })).error?.code],
      [-32_001, -32_001],
    )
  })

  it('does not have calls approved by who may only talk', async (context) => {
    const paid: string[] = []
    const tokens = { ['t'.repeat(20)]: 'admin', ['w'.repeat(20)]: 'talk' } as const
    const { url } = await serve(context, clerkWith(paid), { tokens: { ...tokens } })
    const ask = async (token: string, method: string, params: object): Promise<string> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'a2a-version': '1.0' }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      return (await fetch(url, { method: 'POST', headers, body })).text()
    }
    const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'pay' }] }
    const made = await ask('t'.repeat(20), 'SendMessage', { message })
    assert.match(made, /INPUT_REQUIRED/)
    const taskId = /"id":"([^"]+~[^"]+)"/.exec(made)![1]!
    assert.match(await ask('w'.repeat(20), 'GetTask', { id: taskId }), /TASK_STATE_WORKING/)
    const yes = { ...message, taskId, parts: [{ text: 'yes' }] }
    assert.match(await ask('w'.repeat(20), 'SendMessage', { message: yes }), /is at work, and asks nothing/)
    assert.equal(paid, [])
  })

  it('refuses what is no request, and goes on', async (context) => {
    const { url } = await serve(context)
    const post = (body: string, headers: Record<string, string> = {}) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
        body,
      })
    const codeOf = async (response: Response): Promise<number> =>
      ((await response.json()) as { error: { code: number } }).error.code
    assert.is(await codeOf(await post('what is this')), -32_700)
    assert.ok((await codeOf(await post('[]'))) < 0)
    assert.is(await codeOf(await post('{"jsonrpc":"2.0","id":1,"method":"Nonsense","params":{}}')), -32_601)
    assert.ok((await codeOf(await post('{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}'))) < 0)
    assert.ok(
      (await codeOf(
        await post('{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}', { 'a2a-version': '9.9' }),
      )) < 0,
    )
    assert.is((await post('{}', { 'content-type': 'text/plain' })).status, 415)
    assert.is((await fetch(url)).status, 405)
    assert.match(
      await (await fetch(`${url}s/.well-known/agent-card.json`)).text(),
      /no agent \\"clerks\\".*\/a2a\/clerk/,
    )
    const task = isTask(await (await clientOf(url)).sendMessage(say('Hello')))
    assert.is(textInTask(task), 'You said: Hello')
  })

  it('is refused to definitions that are not served', async (context) => {
    const clerk = clerkWith()
    await assert.rejects(
      serveAgents(context, [], { endpoints: [a2a({ definitions: [clerk] })] }),
      /"clerk" is not among/,
    )
    assert.throws(() => a2a({ definitions: [] }), /give at least one/)
  })
})
