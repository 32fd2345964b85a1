import { readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { judged } from '../../../../test/judges/judge.ts'
import { opened, tempFolder, textOf } from './opened.ts'
import { reference } from './referenceServer.ts'

const timeoutMs = 10_000

describe('the reference servers over standard input and output', (each) => {
  const it = judged(each)

  it('give all their tools, one of which runs only as a task', { timeoutMs }, async (context) => {
    const open = await opened(context, reference('everything', 'stdio'))
    const { connection } = open
    assert.equal(connection.status().state, 'up')
    assert.ok(open.names().includes('echo') && open.names().includes('get-tiny-image'))
    assert.ok(open.names().includes('simulate-research-query'))
    assert.is(connection.trouble, undefined)
    // Not declared, so never offered: nobody may use our model or look around on the disk.
    assert.equal(
      open.names().filter((name) => /sampling|roots/.test(name)),
      [],
    )
    await connection.close()
    assert.equal(connection.status().state, 'closed')
  })

  it('return text, images, links, embedded resources and data', { timeoutMs }, async (context) => {
    const open = await opened(context, reference('everything', 'stdio'))
    assert.equal(await open.call('echo', { message: 'hi' }), [{ type: 'text', text: 'Echo: hi' }])
    const image = await open.call('get-tiny-image')
    assert.ok(Array.isArray(image) && image.some((block) => block.type === 'image' && block.mimeType === 'image/png'))
    assert.match(
      await open.text('get-resource-links', { count: 2 }),
      /\[resource demo:\/\/resource\/dynamic\/blob\/1 \(.*text\/plain/,
    )
    const embedded = await open.text('get-resource-reference', { resourceType: 'Text', resourceId: 2 })
    assert.match(
      embedded,
      /\[resource demo:\/\/resource\/dynamic\/text\/2 \(text\/plain\)\]\nResource 2: This is a plaintext/,
    )
    // A blob of text is text.
    const blob = await open.text('get-resource-reference', { resourceType: 'Blob', resourceId: 1 })
    assert.match(blob, /Resource 1: This is a base64 blob/)
    const data = await open.text('get-structured-content', { location: 'Chicago' })
    assert.equal(Object.keys(JSON.parse(data) as object), ['temperature', 'conditions', 'humidity'])
  })

  it('refuse arguments before they are called, and tell errors of the tool', { timeoutMs }, async (context) => {
    const open = await opened(context, reference('filesystem', await realpath(await tempFolder(context))))
    const read = open.tool('read_text_file').parse({ path: 7 })
    assert.match(read.ok ? '' : read.message, /^Invalid arguments: path: expected string/)
    const thrown = await open.call('read_text_file', { path: '/etc/passwd' }).catch((error: unknown) => error)
    assert.match((thrown as Error).message, /Access denied/)
  })

  it('report progress, and hear of a call that is cancelled', { timeoutMs }, async (context) => {
    const open = await opened(context, reference('everything', 'stdio'))
    const recorded = toolContext()
    await open.call('trigger-long-running-operation', { duration: 0.6, steps: 3 }, recorded)
    assert.equal(recorded.reports[0], { progress: 1, total: 3 })
    const abort = new AbortController()
    const call = open.call(
      'trigger-long-running-operation',
      { duration: 60, steps: 60 },
      {
        signal: abort.signal,
        report: () => abort.abort(new Error('enough')),
      },
    )
    const thrown = await call.catch((error: unknown) => error)
    assert.equal((thrown as Error).message, 'enough')
    assert.equal(await open.text('echo', { message: 'still there' }), 'Echo: still there')
  })

  it('ask people by the form of the question, and take no for an answer', { timeoutMs }, async (context) => {
    const open = await opened(context, reference('everything', 'stdio'))
    let asked = ''
    const ask = (async (schema: { parse(value: unknown): unknown }, question: string) => {
      asked = question
      return schema.parse({ name: 'Ada', integer: 7, email: 'ada@example.org' })
    }) as unknown as ToolContext['ask']
    const answered = await open.text('trigger-elicitation-request', {}, { ask })
    assert.equal(asked, 'The MCP server "everything" asks: Please provide inputs for the following fields:')
    assert.match(answered, /Name: Ada/)
    assert.match(answered, /Favorite Integer: 7/)
    const denied = await open.text(
      'trigger-elicitation-request',
      {},
      { ask: () => Promise.reject(Object.assign(new Error('no'), { code: 'QUESTION_DENIED' })) },
    )
    assert.match(denied, /declined/)
  })

  it('get no for an answer while nobody can tell for which call they ask', { timeoutMs }, async (context) => {
    const open = await opened(context, reference('everything', 'stdio'))
    const abort = new AbortController()
    const begun = Promise.withResolvers<void>()
    const slow = open.call(
      'trigger-long-running-operation',
      { duration: 60, steps: 600 },
      { signal: abort.signal, report: () => begun.resolve() },
    )
    await begun.promise
    const ask = () => Promise.reject(new Error('Nobody was to be asked.'))
    assert.match(await open.text('trigger-elicitation-request', {}, { ask }), /declined/)
    assert.match(open.log.join('\n'), /it asked people something while 2 calls were under way: declined/)
    abort.abort(new Error('enough'))
    await slow.catch(() => {})
  })

  it('are not heard when they ask and nobody wants that', { timeoutMs }, async (context) => {
    const open = await opened(context, { ...reference('everything', 'stdio'), elicitation: false })
    assert.equal(
      open.names().filter((name) => name.includes('elicitation')),
      [],
    )
  })

  it('show an address to open, which nobody opens for a person', { timeoutMs }, async (context) => {
    const open = await opened(context, reference('everything', 'stdio'))
    let asked = ''
    const ask = (async (_: unknown, question: string) => {
      asked = question
      return true
    }) as unknown as ToolContext['ask']
    const answer = await open.text('trigger-url-elicitation', { url: 'https://example.org/pay?x=1' }, { ask })
    assert.match(asked, /asks: .*\nOpen this address only if you trust it: https:\/\/example\.org\/pay\?x=1\n/)
    assert.match(answer, /complete/i)
  })

  it('let their resources and prompts be listed and read where that is wanted', { timeoutMs }, async (context) => {
    const open = await opened(context, { ...reference('everything', 'stdio'), resources: true, prompts: true })
    assert.match(
      await open.text('everything_list_resources'),
      /^- demo:\/\/resource\/static\/document\/architecture\.md /,
    )
    const uri = 'demo://resource/static/document/features.md'
    assert.match(
      await open.text('everything_read_resource', { uri }),
      /^\[resource .*\(text\/markdown\)\]\n# Everything Server/,
    )
    const missing = await open
      .text('everything_read_resource', { uri: 'demo://nothing' })
      .catch((error: unknown) => error)
    assert.match((missing as Error).message, /^The MCP server "everything" failed: .*demo:\/\/nothing/)
    assert.match(await open.text('everything_list_prompts'), /args-prompt\(city, state\?\)/)
    const prompt = await open.text('everything_get_prompt', { name: 'args-prompt', arguments: { city: 'Bonn' } })
    assert.match(prompt, /^\[user\]\n.*Bonn/)
  })

  it('write files and keep memories as calls that follow one another', { timeoutMs }, async (context) => {
    const folder = await realpath(await tempFolder(context))
    const files = await opened(context, reference('filesystem', folder))
    await writeFile(join(folder, 'a.txt'), 'alpha')
    assert.match(await files.text('read_text_file', { path: join(folder, 'a.txt') }), /alpha/)
    await files.call('write_file', { path: join(folder, 'b.txt'), content: 'beta' })
    assert.equal(await readFile(join(folder, 'b.txt'), 'utf8'), 'beta')
    const file = join(folder, 'memory.jsonl')
    const memory = await opened(context, {
      ...reference('memory'),
      env: { MEMORY_FILE_PATH: file },
      plain: ['MEMORY_FILE_PATH'],
    })
    await memory.call('create_entities', {
      entities: [{ name: 'Ada', entityType: 'person', observations: ['counts'] }],
    })
    assert.match(textOf(await memory.call('search_nodes', { query: 'Ada' })), /counts/)
  })
})
