import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assert, describe } from '../support/suite.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8')

/** The model of the example, as a function: it asks for the refund, then says what came of it. Its process may be killed at a request. */
const standIn = `import { policyModel } from '../../src/index.ts'
const anthropic = (_: string) => policyModel(({ messages }) => {
  const { role, content } = messages.at(-1)!
  if (role === process.env['KILLED_AT']) process.kill(process.pid, 'SIGKILL')
  if (role !== 'toolResult') return { toolCalls: [{ name: 'refund', input: { order: 'A17', eur: 80 } }] }
  return content[0]?.type === 'text' ? content[0].text : ''
})
`

/** The ids that GitHub and the site give to the headings of a page. */
function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, title = ''] of markdown.replaceAll(/^```.*$[^]*?^```$/gm, '').matchAll(/^#+ (.*)$/gm)) {
    const plain = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = plain.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-')
    for (let n = 0, anchor = slug; ; anchor = `${slug}-${(n += 1)}`)
      if (!anchors.has(anchor)) {
        anchors.add(anchor)
        break
      }
  }
  return anchors
}

const startExample = (
  file: string,
  killedAt: string,
  signal: AbortSignal,
): Promise<{ readonly signal: NodeJS.Signals | null; readonly stdout: string }> =>
  new Promise((resolve) => {
    const options = { cwd: dirname(file), env: { ...process.env, KILLED_AT: killedAt }, signal }
    execFile(process.execPath, [file], options, (error, stdout) => resolve({ signal: error?.signal ?? null, stdout }))
  })

describe('the README', (it) => {
  it('has a first example that goes on after kill -9, and pays once', { timeoutMs: 30_000 }, async (context) => {
    const code = /```ts no-run\n([\s\S]*?)```/.exec(await read('README.md'))?.[1]
    assert.ok(code)
    const folder = await mkdtemp(join(root, 'test', '.readme-'))
    context.cleanup(() => rm(folder, { recursive: true }))
    const file = join(folder, 'example.ts')
    const provider = /import \{ anthropic \}.*\n/
    assert.match(code, provider)
    await writeFile(file, code.replace(provider, standIn).replace("from 'escapement'", "from '../../src/index.ts'"))
    const start = (killedAt: string) => startExample(file, killedAt, context.signal)

    assert.equal(await start('user'), { signal: 'SIGKILL', stdout: '' })
    assert.equal(await start(''), { signal: null, stdout: 'waiting\n' })
    assert.equal(await start('toolResult'), { signal: 'SIGKILL', stdout: '' })
    const answer = await start('')
    assert.match(answer.stdout, / EUR back for A17 \(booking order-A17\S*\)\.idle\n$/)
    assert.equal(await start(''), { signal: null, stdout: 'idle\n' })

    const [log] = (await readdir(join(folder, '.escapement'))).filter((name) => name.endsWith('.jsonl'))
    const records = await readFile(join(folder, '.escapement', log!), 'utf8')
    for (const type of ['message.added', 'approval.requested', 'tool.start', 'tool.end'])
      assert.is(records.split(`"type":"${type}"`).length - 1, 1, type)
  })

  it('names commands that package.json and CI have', async () => {
    const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> }
    assert.ok(scripts['start'])
    assert.ok(scripts['test'])
    const readme = await read('README.md')
    assert.match(readme, /npm ci && npm start/)
    assert.match(readme, /npm ci && npm test/)
    assert.match(await read('.ci/run'), /\nnpm ci\n[^]*\nnpm test [^]*\nnpm run test:rest /)
    assert.ok(scripts['test:rest'])
  })

  it('links to files that exist, and to headings that they have', async () => {
    const docs = (await readdir(join(root, 'docs'), { recursive: true }))
      .filter((name) => name.endsWith('.md') && !name.startsWith('decisions'))
      .map((name) => `docs/${name}`)
    const broken: string[] = []
    for (const page of ['README.md', 'create-escapement/README.md', ...docs]) {
      const prose = (await read(page)).replaceAll(/^```.*$[^]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '')
      for (const [, target] of prose.matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)) {
        const [path = '', heading] = target!.split('#')
        const file = path === '' ? page : join(dirname(page), path)
        const text = await read(file).catch((thrown: unknown) =>
          (thrown as NodeJS.ErrnoException).code === 'EISDIR' ? '' : undefined,
        )
        if (text === undefined || (heading !== undefined && file.endsWith('.md') && !anchorsOf(text).has(heading)))
          broken.push(`${page}: ${target!}`)
      }
    }
    assert.equal(broken, [])
  })
})
