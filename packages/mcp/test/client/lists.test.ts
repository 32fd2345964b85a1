import { join } from 'node:path'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { linesOf, opened, raw, tempFolder, until } from './opened.ts'

const timeoutMs = 10_000
const schema = { type: 'object' }
const tool = (name: string, more: object = {}): object => ({
  name,
  description: `Does ${name}.`,
  inputSchema: schema,
  ...more,
})

/** Schemas within each other: `not`, of `not`, and so on. */
const nested = (levels: number): object => JSON.parse(`${'{"not":'.repeat(levels)}{}${'}'.repeat(levels)}`) as object

describe('the list of a server', (it) => {
  it(
    'may have tools that are none: they are left out and told, the others are there',
    { timeoutMs },
    async (context) => {
      const pages = [
        [
          tool('good'),
          tool('good'),
          { name: 'text', inputSchema: { type: 'string' } },
          { inputSchema: schema },
          { name: 'bare' },
          'nonsense',
          null,
          tool('task', { execution: { taskSupport: 'required' } }),
          tool('huge', { inputSchema: { type: 'object', properties: { a: { const: 'x'.repeat(100_001) } } } }),
          { name: 'untyped', inputSchema: { properties: { a: { type: 'string' } } } },
        ],
        [tool('second')],
      ]
      const { connection, names, tool: find } = await opened(context, raw({ pages }))
      assert.equal(names(), ['good', 'untyped', 'second'])
      assert.equal(find('untyped').inputSchema, { type: 'object', properties: { a: { type: 'string' } } })
      assert.equal(find('untyped').description, 'untyped')
      const trouble = connection.trouble ?? ''
      assert.match(
        trouble,
        /^tool "good": its name is there twice; tool "text": its input is "string", not an object; tool null: /,
      )
      assert.match(trouble, /tool "task": it runs only as a task, and the server says of itself that it has none/)
      assert.match(trouble, /tool "huge": its schema has \d+ characters, more than "maxSchemaChars" \(100000\)/)
    },
  )

  it('may have schemas that are too long: their descriptions are shortened first', { timeoutMs }, async (context) => {
    const long = (more: object): object => ({ inputSchema: { type: 'object', properties: { a: more } } })
    const pages = [
      [
        tool('wordy', long({ type: 'string', description: 'x'.repeat(2_000) })),
        tool('huge', long({ const: 'x'.repeat(2_000) })),
      ],
    ]
    const small = await opened(context, { ...raw({ pages }), maxSchemaChars: 1_000 })
    assert.equal(small.names(), ['wordy'])
    assert.ok(JSON.stringify(small.tool('wordy').inputSchema).length <= 1_000)
    assert.match(
      small.connection.trouble ?? '',
      /^tool "huge": its schema has \d+ characters, more than "maxSchemaChars" /,
    )
    const large = await opened(context, { ...raw({ pages }), maxSchemaChars: 3_000 })
    assert.equal([large.names(), large.connection.trouble], [['wordy', 'huge'], undefined])
  })

  it('say nothing of tools that nobody wants', { timeoutMs }, async (context) => {
    const pages = [[tool('good'), tool('task', { execution: { taskSupport: 'required' } }), { name: 'bare' }]]
    for (const choice of [{ exclude: ['task', 'bare'] }, { include: [/^g/] }]) {
      const { connection, names } = await opened(context, { ...raw({ pages }), ...choice })
      assert.equal([names(), connection.trouble], [['good'], undefined])
    }
  })

  it(
    'may have tools that are nested as deep as nobody reads: they are left out as well',
    { timeoutMs },
    async (context) => {
      const pages = [[tool('deep', { inputSchema: nested(1_500) }), { name: nested(1_500) }, tool('good')]]
      const { connection, names } = await opened(context, raw({ pages }))
      assert.equal(names(), ['good'])
      const why = 'it is nested deeper than 200 levels'
      assert.is(connection.trouble, `tool "deep": ${why}; tool null: ${why}`)
    },
  )

  it('may have no end', { timeoutMs }, async (context) => {
    const { connection, names } = await opened(context, raw({ pages: [[tool('one')], [tool('two')]], isEndless: true }))
    assert.equal(names(), ['one', 'two'])
    assert.match(connection.trouble ?? '', /^its list does not end/)
    assert.equal(connection.status().state, 'up')
  })

  it('may have names that no provider takes, and such that become the same', { timeoutMs }, async (context) => {
    const long = 'n'.repeat(120)
    const own = ['a.b', 'a/b', 'a_b', '', long, `${long}x`, 'größe', '__proto__']
    const { names, text } = await opened(context, raw({ pages: [own.map((name) => tool(name))] }))
    for (const name of names()) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/)
    assert.equal(new Set(names()).size, own.length)
    assert.equal(names()[2], 'a_b')
    for (const [index, name] of names().entries())
      if (own[index] !== '') assert.match(await text(name, {}), new RegExp(`^called ${own[index]} with`))
    const again = await opened(context, raw({ pages: [own.toReversed().map((name) => tool(name))] }))
    assert.equal(again.names().toReversed(), names())
  })

  it('may be put behind the name of the server, and narrowed', { timeoutMs }, async (context) => {
    const options = { ...raw(), prefix: 'always', include: [/^e/, 'pid'], exclude: ['env'] } as const
    const { names, text } = await opened(context, options)
    assert.equal(names(), ['raw_echo', 'raw_pid'])
    assert.equal(await text('raw_echo', { text: 'x' }), 'x')
  })

  it(
    'may change in the middle of a call: the new one is there when the connection is ready',
    { timeoutMs },
    async (context) => {
      const later = [tool('fresh'), tool('change')]
      const open = await opened(context, raw({ later, listMs: 100 }))
      const before = open.connection.tools
      await open.call('change')
      assert.is(open.connection.tools, before)
      await open.connection.ready(context.signal)
      assert.equal(open.names(), ['fresh', 'change'])
      assert.equal(open.connection.status().state, 'up')
    },
  )

  it('may come in another order, which changes nothing', { timeoutMs }, async (context) => {
    const pages = [[tool('a'), tool('b'), tool('change')]]
    const open = await opened(context, raw({ pages, later: [tool('change'), tool('b'), tool('a')] }))
    const before = open.connection.tools
    await open.call('change')
    await open.connection.ready(context.signal)
    assert.is(open.connection.tools, before)
    // Another description is a change.
    const other = await opened(
      context,
      raw({ pages, later: [tool('change'), tool('b'), tool('a', { description: 'Other.' })] }),
    )
    await other.call('change')
    await other.connection.ready(context.signal)
    assert.equal(other.tool('a').description, 'Other.')
  })

  it('may be awaited for two seconds at most', { timeoutMs }, async (context) => {
    const open = await opened(context, raw({ later: [tool('late')], listMs: 600_000 }))
    await open.call('change')
    const before = open.connection.tools
    await open.connection.ready(context.signal)
    assert.is(open.connection.tools, before)
  })

  it('may be announced with each answer, which is no reason to ask for ever', { timeoutMs }, async (context) => {
    for (const announces of ['before', 'after'] as const) {
      const journal = join(await tempFolder(context), 'journal')
      const clock = simulatedClock()
      const open = await opened(context, raw({ announces, journal, later: [tool('change')] }), { clock })
      await open.call('change')
      const lists = async (): Promise<number> => (await linesOf(journal)).filter((line) => line === 'list').length
      await until(async () => (await lists()) >= 5, context.signal)
      await until(() => clock.pending > 0, context.signal)
      const asked = await lists()
      // No turn waits for a server that rests.
      await open.connection.ready(context.signal)
      await open.call('change')
      assert.equal(await lists(), asked)
      await clock.advance(5_000)
      await until(() => open.names().join() === 'change', context.signal)
      await open.connection.close()
    }
  })

  it('brings instructions only where they are wanted', { timeoutMs }, async (context) => {
    const instructions = 'Always call echo first.'
    const quiet = await opened(context, raw({ instructions }))
    assert.equal(quiet.connection.instructions, undefined)
    const heard = await opened(context, { ...raw({ instructions }), instructions: true })
    assert.equal(heard.connection.instructions, instructions)
  })

  it('is the same array before and after a restart', { timeoutMs }, async (context) => {
    const open = await opened(context, { ...raw(), restart: { backoffMs: 1 } })
    const { tools } = open.connection
    await open.call('die').catch(() => {})
    await until(() => open.connection.status().state === 'up', context.signal)
    assert.is(open.connection.tools, tools)
  })
})
