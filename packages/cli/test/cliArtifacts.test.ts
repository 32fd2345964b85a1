import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { artifactName, type Artifact } from '../../../src/protocol/artifacts/artifact.ts'
import { findArtifact, type KeptArtifact } from '../src/artifacts/keptArtifacts.ts'
import { calls, tool, withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { projectFolder } from './cliChild.ts'
import { runCli, startCli } from './cliInProcess.ts'
import { recordSession } from './cliSessions.ts'

const timeoutMs = 30_000
const evil = `start \u001B[2J\u009B31m${'a line of a log\n'.repeat(200)}`
const pixels = Buffer.from('p'.repeat(3_000))
const picture = { type: 'image', data: pixels.toString('base64'), mimeType: 'image/png' } as const
const pdf = {
  type: 'file',
  data: Buffer.from('d'.repeat(2_000)).toString('base64'),
  mimeType: 'application/pdf',
  name: 'a.pdf',
} as const

/** A session whose results keep a text, a picture and a document. */
async function recorded(context: CaseContext) {
  const cwd = projectFolder(context)
  await recordSession(cwd, {
    id: 'one',
    prompts: ['go'],
    replies: [calls('a', 'read', 'shoot'), 'done'],
    artifacts: { overChars: 1_000, overMediaBytes: 1_000 },
    tools: [tool('read', () => evil), tool('shoot', () => [picture, pdf])],
  })
  const show = (args: readonly string[]) => runCli(context, ['show', 'one', '--dir', cwd, ...args])
  const showAtTerminal = async (args: readonly string[]) => {
    const run = startCli(context, ['show', 'one', '--dir', cwd, ...args], { cwd, isTerminal: true })
    return { code: await run.ended, stdout: run.stdout, raw: run.raw, stderr: run.stderr }
  }
  const { artifacts } = JSON.parse((await show([])).stdout) as {
    artifacts: (Artifact & { node: string; tool: string })[]
  }
  return { cwd, show, showAtTerminal, artifacts, names: artifacts.map(artifactName) }
}

describe('escapement show', (it) => {
  it('lists what results keep, with the call and the node', { timeoutMs }, async (context) => {
    const { showAtTerminal, artifacts, names } = await recorded(context)
    assert.equal(
      artifacts.map(({ bytes, mimeType, name, node, tool: by }) => [bytes, mimeType, name, node, by]),
      [
        [evil.length + 1, 'text/plain', undefined, 'n3', 'read'],
        [3_000, 'image/png', undefined, 'n4', 'shoot'],
        [2_000, 'application/pdf', 'a.pdf', 'n4', 'shoot'],
      ],
    )
    const { stdout } = await showAtTerminal([])
    assert.match(
      stdout,
      `Full results\n  ${names[0]}  text/plain · ${(evil.length + 1).toLocaleString('en-US')} bytes · read n3\n`,
    )
    assert.match(stdout, `  ${names[2]}  application/pdf · 2,000 bytes · a.pdf · shoot n4\n`)
  })

  it(
    'writes one as it is to a pipe and to a new file, by its name, digits or file name',
    { timeoutMs },
    async (context) => {
      const { cwd, show, showAtTerminal, artifacts, names } = await recorded(context)
      const piped = await show(['--artifact', artifacts[0]!.id.slice(0, 9)])
      assert.equal([piped.code, piped.stdout.length], [0, evil.length])
      const out = join(cwd, 'picture.png')
      const saved = await show(['--artifact', names[1]!, '--out', out])
      assert.equal([saved.code, JSON.parse(saved.stdout)], [0, { ...artifacts[1], file: out }])
      assert.ok(readFileSync(out).equals(pixels))
      const again = await showAtTerminal(['--artifact', names[1]!, '--out', out])
      assert.equal([again.code, again.stdout], [2, ''])
      assert.match(again.stderr, /--out .*picture\.png cannot be written: it is there already/)
      const file = join(cwd, 'a.pdf')
      const document = await showAtTerminal(['--artifact', 'a.pdf', '--out', file])
      assert.equal([document.code, document.stdout], [0, `${names[2]} is in ${file}: 2,000 bytes.\n`])
    },
  )

  it('gives a terminal text without what moves its cursor, and nothing else', { timeoutMs }, async (context) => {
    const { showAtTerminal, names } = await recorded(context)
    const text = await showAtTerminal(['--artifact', names[0]!])
    assert.equal([text.code, text.raw.includes('\u001B') || text.raw.includes('\u009B')], [0, false])
    assert.match(text.raw, /^start 31ma line of a log\n[^]*\n$/)
    const binary = await showAtTerminal(['--artifact', names[1]!])
    assert.equal([binary.code, binary.stdout], [1, ''])
    assert.match(binary.stderr, 'is image/png, which is not for a terminal: give --out <file>')
  })

  it('says what is wrong: unknown, gone, or with options that do not go together', { timeoutMs }, async (context) => {
    const { cwd, show, names } = await recorded(context)
    for (const [args, why] of [
      [['--artifact', 'artifact_0'.padEnd(40, '0')], `is none of session "one". The newest: ${names.join(', ')}.`],
      [['--artifact', 'no digits'], 'is none of session'],
      [['--artifact', names[0]!, '--turn', '1'], 'leave --format, --turn and --request out'],
      [['--artifact', names[0]!, '--json'], 'leave --json out'],
      [['--out', 'x'], 'goes with --artifact'],
    ] as const) {
      const { code, stdout, stderr } = await show(args)
      assert.equal([code, stdout], [2, ''], args.join(' '))
      assert.ok(stderr.includes(why), `${args.join(' ')}: ${stderr}`)
    }
    await rm(join(cwd, '.escapement', 'one.snapshots'), { recursive: true })
    const gone = await show(['--artifact', names[0]!])
    assert.equal([gone.code, gone.stdout], [1, ''])
    assert.match(gone.stderr, `${names[0]} is no longer kept`)
  })
})

describe('escapement inspect', (it) => {
  it('gives what results keep of an agent that does not run', { timeoutMs }, async (context) => {
    const { cwd, artifacts } = await recorded(context)
    const run = startCli(context, ['inspect', '--dir', cwd], { cwd })
    await run.until('\n')
    const { page } = JSON.parse(run.stdout) as { page: string }
    const response = await fetch(new URL(`/agents/one/artifacts/${artifacts[0]!.id}`, page))
    assert.equal([response.status, await response.text()], [200, evil])
    run.signal()
    assert.is(await run.ended, 0)
  })
})

describe('the artifact that is meant', (it) => {
  const kept = (id: string, more: Partial<KeptArtifact> = {}): KeptArtifact => ({
    id: id.padEnd(64, '0'),
    agentId: 'a1',
    bytes: 1,
    mimeType: 'text/plain',
    node: 'n1',
    tool: 'read',
    ...more,
  })

  it('is one, also where several results keep the same, and never a guess', () => {
    const all = [kept('ab1'), kept('ab2', { name: 'a.txt' }), kept('ab1', { node: 'n9' }), kept('cd', { name: 'ab' })]
    assert.is(findArtifact(all, 'ab1', 's').id, all[0]!.id)
    assert.is(findArtifact(all, 'artifact_AB2', 's').id, all[1]!.id)
    assert.is(findArtifact(all, 'a.txt', 's').id, all[1]!.id)
    assert.is(findArtifact(all, 'ab', 's').id, all[3]!.id)
    assert.throws(
      () => findArtifact(all, 'a', 's'),
      withCode('INVALID_OPTION', 'may be any of these: artifact_ab1000000000, artifact_ab2000000000. Give more'),
    )
    assert.throws(() => findArtifact([], 'ab', 's'), withCode('INVALID_OPTION', 'No result of session "s"'))
  })
})
