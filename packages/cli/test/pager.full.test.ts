import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { spawnCli } from './cliChild.ts'
import { configFolder, configText } from './configFolder.ts'
import { inTmux, startInTmux } from './tmux.ts'

const talker = configText(`const model = policyModel(() => 'Yes.')
export default defineConfig({ agents: [defineAgent({ name: 'talker', model })] })`)

const prompts = Array.from({ length: 30 }, (_, n) => `prompt ${n + 1}`)

/** A folder with a session that is longer than a screen, and its id. */
async function longSession(context: CaseContext): Promise<{ readonly cwd: string; readonly id: string }> {
  const cwd = configFolder(context, { 'escapement.config.ts': talker })
  await spawnCli(context, ['chat'], { cwd, input: `${prompts.join('\n')}\n` })
  const { stdout } = await spawnCli(context, ['sessions', '--json'], { cwd })
  const { id } = JSON.parse(stdout.split('\n')[0]!) as { readonly id: string }
  return { cwd, id }
}

describe('a long session at a terminal', (it) => {
  inTmux(it, 'is read through the pager, and ends with it', async (context) => {
    const { cwd, id } = await longSession(context)
    const terminal = await startInTmux(context, ['show', id], { cwd })
    await terminal.until((lines) => lines.at(-1) === ':')
    assert.not.ok((await terminal.lines()).some((line) => line.includes('prompt 30')))
    // Ctrl-C is the pager's: a reader is not thrown out.
    await terminal.press('C-c')
    // It drops what is typed while it handles that.
    while (!(await terminal.lines()).some((line) => line.includes('prompt 30'))) await terminal.press('G')
    await terminal.press('q')
    assert.is(await terminal.ended(), 0)
  })

  for (const [title, PAGER] of [
    ['without a pager, as asked', ''],
    ['with a pager that is not there', 'nothing-of-that-name 2>/dev/null'],
  ] as const)
    inTmux(it, `is printed whole ${title}`, async (context) => {
      const { cwd, id } = await longSession(context)
      const terminal = await startInTmux(context, ['show', id], { cwd, env: { PAGER } })
      assert.is(await terminal.ended(), 0)
      const all = (await terminal.all()).join('\n')
      assert.ok(all.includes('prompt 1') && all.includes('prompt 30'))
    })
})
