import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { assert, describe } from '../../../test/support/suite.ts'
import { runCli } from './cliInProcess.ts'
import { projectFolder } from './cliChild.ts'
import { recordSession } from './cliSessions.ts'

const timeoutMs = 60_000
const door = pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'src', 'index.ts')).href
const agent = (name: string, rest = ''): string =>
  `export const ${name} = defineAgent({ name: '${name}', model: policyModel(() => 'hi')${rest} })\n`
const files = {
  'package.json': '{ "type": "module" }\n',
  'agents.ts': `import { defineAgent, policyModel } from '${door}'\n${agent('coder', ', braking: { revert: true }')}${agent('tester')}`,
  'none.ts': 'export const nothing = 1\n',
}

describe('escapement chart', (it) => {
  it('draws the agent that a module exports, one of several by its name', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context, files)
    const drawn = await runCli(context, ['chart', 'agents.ts', '--id', 'coder'], { cwd })
    assert.is(drawn.code, 0, drawn.stderr)
    assert.match(drawn.stdout, /title: "coder"[\s\S]*brake open/)
    const json = await runCli(context, ['chart', '--format', 'json'], { cwd })
    assert.is((JSON.parse(json.stdout) as { id: string }).id, 'agent@1')
  })

  it('writes a file in the format of its ending', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context, files)
    const { code, stdout, stderr } = await runCli(context, ['chart', '--out', join(cwd, 'agent.svg')], { cwd })
    assert.equal([code, stdout], [0, ''], stderr)
    assert.match(readFileSync(join(cwd, 'agent.svg'), 'utf8'), /^<svg [\s\S]*<\/svg>\n$/)
    const full = await runCli(context, ['chart', '--format', 'svg', '--detail', 'full'], { cwd })
    assert.match(full.stdout, 'data-state="draining.reverts"')
  })

  it('draws who called whom in a session', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context, files)
    await recordSession(cwd, { id: 'said', prompts: ['Hello?'], replies: ['Hello!'] })
    const mermaid = await runCli(context, ['chart', 'said', '--actors'], { cwd })
    assert.match(mermaid.stdout, /^sequenceDiagram\n[\s\S]*a0->>a1: Hello\?\n[\s\S]*a1-->>a0: done/)
    const svg = await runCli(context, ['chart', 'said', '--actors', '--format', 'svg'], { cwd })
    assert.match(svg.stdout, /^<svg /)
    const json = await runCli(context, ['chart', 'said', '--actors', '--format', 'json'], { cwd })
    assert.is((JSON.parse(json.stdout) as { steps: unknown[] }).steps.length, 2)
    const missing = await runCli(context, ['chart', 'sad', '--actors'], { cwd })
    assert.match(missing.stderr, /Did you mean "said"/)
    const both = await runCli(context, ['chart', 'said', '--actors', '--detail', 'full'], { cwd })
    assert.equal([both.code, both.stdout], [2, ''])
  })

  it('says what is wrong with a module, a name, a format or a file', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context, files)
    const wrong: readonly (readonly [args: readonly string[], says: RegExp])[] = [
      [['agents.ts'], /exports 2 agents: coder, tester. Say which with --id/],
      [['agents.ts', '--id', 'codar'], /no agent "codar". Did you mean coder\?/],
      [['none.ts'], /exports no agent/],
      [['--format', 'png'], /--format must be mermaid, svg or json; it is "png"/],
      [['--detail', 'some'], /--detail must be overview or full; it is "some"/],
      [['--direction', 'up'], /--direction must be down or right/],
      [['--out', join(cwd, 'no', 'folder.mmd')], /--out .* cannot be written/],
    ]
    for (const [args, says] of wrong) {
      const { code, stderr } = await runCli(context, ['chart', ...args], { cwd })
      assert.is(code, 2, args.join(' '))
      assert.match(stderr, says)
    }
    assert.not(existsSync(join(cwd, 'no')))
  })
})

describe('escapement show --format', (it) => {
  it('draws the conversation of a session', { timeoutMs }, async (context) => {
    const cwd = projectFolder(context, files)
    await recordSession(cwd, { id: 'said', prompts: ['Hello?'], replies: ['Hello!'] })
    const drawn = await runCli(context, ['show', 'said', '--format', 'mermaid'], { cwd })
    assert.match(drawn.stdout, /^flowchart TD\n[\s\S]*Hello\?/m)
    const json = await runCli(context, ['show', 'said', '--format', 'json'], { cwd })
    assert.is((JSON.parse(json.stdout) as { steps: unknown[] }).steps.length, 2)
    const file = join(cwd, 'said.svg')
    const out = await runCli(context, ['show', 'said', '--format', 'svg', '--out', file], { cwd })
    assert.equal([out.code, JSON.parse(out.stdout)], [0, { file, format: 'svg' }])
    assert.match(readFileSync(file, 'utf8'), /^<svg[\s\S]*Hello\?[\s\S]*<\/svg>\n$/)
    const again = await runCli(context, ['show', 'said', '--format', 'svg', '--out', file], { cwd })
    assert.match(again.stderr, /is there already, and is not written over/)
    const both = await runCli(context, ['show', 'said', '--format', 'svg', '--turn', '1'], { cwd })
    assert.equal([both.code, both.stdout], [2, ''])
    const missing = await runCli(context, ['show', 'sad', '--format', 'svg'], { cwd })
    assert.match(missing.stderr, /Did you mean "said"/)
  })
})
