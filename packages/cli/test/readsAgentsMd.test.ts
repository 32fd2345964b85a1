import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { configFolder, configText } from './configFolder.ts'
import { endedCli } from './cliInProcess.ts'
import { faultyProjects } from './cliProjects.ts'
import { recordsIn } from './cliSessions.ts'

const echo = configText(`export default { model: policyModel(() => 'understood') }`)

const logIn = (dir: string): string =>
  join(
    dir,
    '.escapement',
    readdirSync(join(dir, '.escapement')).find((name) => name.endsWith('.jsonl'))!,
  )

const guidesIn = (dir: string): string[] =>
  recordsIn(logIn(dir)).flatMap((record) =>
    record.type === 'message.added' && record.message.provenance?.type === 'identityBlock'
      ? [JSON.stringify(record.message.content)]
      : [],
  )

const cli = (context: CaseContext, dir: string, args: readonly string[], input = '') =>
  endedCli(context, [...args, '--dir', dir], { cwd: dir, input })

describe('the coding agent', (it) => {
  it('is told what AGENTS.md says, once', { timeoutMs: 10_000 }, async (context) => {
    const dir = configFolder(context, { 'AGENTS.md': 'Use tabs.', 'escapement.config.ts': echo })
    const { code, stderr } = await cli(context, dir, ['chat'], 'one\ntwo\n')
    assert.is(code, 0, stderr)
    assert.is(guidesIn(dir).length, 1)
    assert.match(guidesIn(dir)[0]!, /Use tabs\./)
    const shown = await cli(context, dir, ['show', logIn(dir).replace(/^.*\/|\.jsonl$/g, ''), '--request', '--json'])
    assert.match(shown.stdout, /"type": "identityBlock",\s+"name": "AGENTS.md"/)
  })

  it('is not the only one where the configuration says so', { timeoutMs: 20_000 }, async (context) => {
    const agents = `agents: [({ model }) => defineAgent({ name: 'desk', model })], model: policyModel(() => 'understood')`
    for (const [more, told] of [
      ['', 0],
      [', agentsMd: true', 1],
    ] as const) {
      const config = configText(`export default { ${agents}${more} }`)
      const dir = configFolder(context, { 'AGENTS.md': 'Use tabs.', 'escapement.config.ts': config })
      const { code, stderr } = await cli(context, dir, ['chat'], 'one\ntwo\n')
      assert.is(code, 0, stderr)
      assert.is(guidesIn(dir).length, told, `told with "${more}"`)
    }
  })

  it('is told anew in a session that goes on only when it has changed', { timeoutMs: 10_000 }, async (context) => {
    const dir = configFolder(context, { 'AGENTS.md': 'Use tabs.', 'escapement.config.ts': echo })
    await cli(context, dir, ['chat'], 'one\n')
    const id = logIn(dir).replace(/^.*\/|\.jsonl$/g, '')
    const terminal = async (text: string): Promise<void> => {
      await endedCli(context, ['resume', id, '--dir', dir], { cwd: dir, isTerminal: true, input: `${text}\r\u0004` })
    }
    await terminal('two')
    assert.match(readFileSync(logIn(dir), 'utf8'), /"text":"two"/)
    assert.is(guidesIn(dir).length, 1)
    writeFileSync(join(dir, 'AGENTS.md'), 'Use spaces.')
    await terminal('three')
    assert.match(guidesIn(dir).at(-1)!, /Use spaces\./)
  })

  it('says what it could not read, and repairs all the same', { timeoutMs: 20_000 }, async (context) => {
    const { files, path, repaired } = faultyProjects['a wrong text']!
    const dir = configFolder(context, { ...files, 'AGENTS.md': 'Run the tests after every change.', '.git/HEAD': '' })
    const { code, stdout, stderr } = await cli(context, dir, [
      'run',
      'fix the failing test',
      '--yes',
      '--model',
      'embedded',
    ])
    assert.is(code, 0, stdout + stderr)
    assert.match(readFileSync(join(dir, path), 'utf8'), repaired)
    assert.is(guidesIn(dir).length, 1)
    writeFileSync(join(dir, 'AGENTS.md'), new Uint8Array([255, 0, 1]))
    const again = await cli(context, dir, ['run', 'fix the failing test', '--yes', '--model', 'embedded'])
    assert.match(again.stderr, /AGENTS\.md was not read: it is not UTF-8 text/)
  })
})
