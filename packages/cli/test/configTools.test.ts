import { join } from 'node:path'
import { readConfig } from '../src/config/readConfig.ts'
import { isToolSource } from '../../../src/actors/tools/toolSource.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { skillText } from '../../tools/test/skills/skillFolder.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { raw } from '../../mcp/test/client/opened.ts'
import { configFolder, configText } from './configFolder.ts'
import { endedCli } from './cliInProcess.ts'

describe('the tools of a configuration', (it) => {
  it('are those it has, its skills and its servers, made once', async (context) => {
    const dir = configFolder(context, {
      'escapement.config.ts': configText(`export default defineConfig({
  tools: workspaceTools(import.meta.dirname).slice(0, 1),
  skills: ['./skills'],
  mcp: { files: { command: 'files', args: ['.'], env: { TOKEN: 'a-long-secret-value' } }, web: { url: 'http://127.0.0.1:1/mcp' } },
  agents: [({ model, tools }) => defineAgent({ name: 'a', model, tools })],
})`),
    })
    const { tools } = await readConfig(join(dir, 'escapement.config.ts'))
    assert.equal(
      tools.map((entry) => (isToolSource(entry) ? entry.source : 'name' in entry ? entry.name : entry)),
      ['read_file', 'skills', 'files', 'web'],
    )
  })

  it('have servers with all that a server can be told', { timeoutMs: 20_000 }, async (context) => {
    const { command, args } = raw({ hasResources: true })
    const dir = configFolder(context, {
      'escapement.config.ts': configText(`export default {
  mcp: {
    every: {
      ...${JSON.stringify({ command, args })},
      include: ['echo', 'key'],
      prefix: 'always',
      resources: true,
      effects: { echo: 'none' },
      approve: (name) => name !== 'echo',
      connectMs: 15_000,
    },
  },
  model: policyModel(({ messages, tools }) =>
    messages.length > 1
      ? 'echoed: ' + messages.at(-1).content[0].text
      : { text: tools.map(({ name }) => name).join(' '), toolCalls: [{ name: 'every_echo', input: { text: 'hi' } }] },
  ),
}`),
    })
    const { stdout, stderr } = await endedCli(context, ['run', 'x', '--dir', dir])
    assert.match(stdout, /every_echo every_key every_list_resources every_read_resource/, stderr)
    assert.match(stdout, /echoed: hi/, stderr)
  })

  it(
    'reach the own agent, with folders of skills from where the file stands',
    { timeoutMs: 10_000 },
    async (context) => {
      const dir = configFolder(context, {
        'skills/paint/SKILL.md': skillText('paint'),
        'escapement.config.ts': configText(
          `export default { skills: ['skills'], model: policyModel(({ system }) => system) }`,
        ),
      })
      const { stdout, stderr } = await endedCli(context, ['run', 'x', '--dir', dir], { cwd: '/' })
      assert.match(stdout, /- paint: Does things\./, stderr)
    },
  )

  it('are refused with their place', async (context) => {
    const wrong = async (body: string, message: string): Promise<void> => {
      const dir = configFolder(context, { 'escapement.config.ts': configText(body) })
      await assert.rejects(readConfig(join(dir, 'escapement.config.ts')), withCode('INVALID_OPTION', message))
    }
    await wrong(
      `export default { mcp: { files: {\n comand: 'x' } } }`,
      'escapement.config.ts:3: "comand" is not known; did you mean "command"?',
    )
    await wrong(`export default { mcp: {\n files: {} } }`, 'escapement.config.ts:3: mcp.files: give command, or url.')
    await wrong(
      `export default { mcp: { web: {\n url: 'http://ann:hunter2@127.0.0.1' } } }`,
      'escapement.config.ts:2: mcp.web: url holds a name or password, which logs would show: give it in headers.',
    )
    await wrong(
      `export default { mcp: { files: { command: 'x',\n restart: {\n maxRestart: 1 } } } }`,
      'escapement.config.ts:4: "maxRestart" is not known; did you mean "maxRestarts"?',
    )
    await wrong(`export default { mcp: {\n 'my files': { command: 'x' } } }`, 'use 1 to 32 letters')
    await wrong(`export default { skills: 'skills' }`, 'escapement.config.ts:2: skills: ')
  })
})
