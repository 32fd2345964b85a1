import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { projectFolder } from './cliChild.ts'
import { configFolder, configText } from './configFolder.ts'
import { inTmux, startInTmux, type Tmux } from './tmux.ts'

/** An agent that edits a file, which waits for a person, and tells in Markdown that it did. */
const editor = configText(`const edit = { path: 'a.txt', oldText: 'two', newText: '二 zwei' }
const model = policyModel(({ messages }) => {
  const last = messages.at(-1)
  if (last.role !== 'toolResult') return { toolCalls: [{ name: 'edit_file', input: edit }] }
  return last.isError ? 'It was **not** done.' : 'It is **done**:\\n\\n- \\\`a.txt\\\` has *zwei*\\n'
})
const tools = workspaceTools('.', { needsApproval: { edit_file: true } })
export default defineConfig({ agents: [defineAgent({ name: 'editor', model, tools })] })`)

const chat = ['chat', '--model', 'embedded', '--no-config']

/** A chat at its prompt. */
async function chatIn(context: CaseContext, cwd: string, env: Readonly<Record<string, string>> = {}): Promise<Tmux> {
  const terminal = await startInTmux(context, chat, { cwd, env })
  await terminal.until((lines) => lines.at(-1) === '›')
  return terminal
}

const endsWith =
  (...last: readonly string[]) =>
  (lines: readonly string[]): boolean =>
    JSON.stringify(lines.slice(-last.length)) === JSON.stringify(last)

const isAnswered = (lines: readonly string[]): boolean =>
  lines.at(-1) === '›' && lines.some((line) => line.startsWith('✗ not done'))

const logsIn = (cwd: string): string => {
  const folder = join(cwd, '.escapement')
  const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('')
}

describe('a chat in a real terminal', (it) => {
  inTmux(it, 'takes forty pasted lines as one message, and has it back after a restart', async (context) => {
    const cwd = projectFolder(context)
    const pasted = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`).join('\n')
    const first = await chatIn(context, cwd)
    await first.paste(pasted)
    await first.until(endsWith('› [pasted 40 lines]'))
    await first.type(' thanks')
    await first.press('Enter')
    await first.until(isAnswered)
    await first.press('C-d')
    assert.is(await first.ended(), 0)
    assert.ok(logsIn(cwd).includes(JSON.stringify(`${pasted} thanks`)))
    const second = await chatIn(context, cwd)
    await second.press('Up')
    await second.until(endsWith('› [pasted 40 lines]'))
    await second.press('C-u')
    await second.until(endsWith('›'))
    await second.press('C-r')
    await second.type('line 7')
    await second.press('Enter')
    await second.until(endsWith('› [pasted 40 lines]'))
  })

  inTmux(it, 'has lines of several rows, whose characters stay whole', async (context) => {
    const terminal = await chatIn(context, projectFolder(context))
    await terminal.type('日本語')
    await terminal.press('S-Enter')
    await terminal.type('e\u0301👩‍💻b')
    await terminal.press('M-Enter')
    await terminal.type('x')
    await terminal.until((lines) => lines.at(-1) === '  x')
    const [column, row] = await terminal.cursor()
    assert.is(column, 3)
    await terminal.press('Up', 'Up', 'Right', 'BSpace')
    await terminal.until((lines) => lines.includes('› 本語'))
    assert.equal(await terminal.cursor(), [2, row - 2])
    await terminal.press('Down', 'End', 'Left', 'BSpace')
    await terminal.until((lines) => lines.includes('  e\u0301b'))
    assert.equal(await terminal.cursor(), [3, row - 1])
  })

  inTmux(it, 'is laid out anew when the terminal gets another width, and leaves nothing of before', async (context) => {
    const terminal = await chatIn(context, projectFolder(context))
    // A full screen: of one that is not, terminals move what they wrap anew out of reach.
    await terminal.type('/help ')
    await terminal.press('Enter')
    await terminal.until((lines) => lines.length === 24 && lines.at(-1) === '›')
    const text = Array.from({ length: 30 }, (_, i) => `word${i}`).join(' ')
    await terminal.type(text)
    await terminal.until((lines) => lines.at(-1)?.endsWith('word29') === true)
    for (const columns of [30, 50, 80]) {
      await terminal.resize(columns)
      const shown = await terminal.until((lines) => {
        const own = lines.slice(lines.findLastIndex((line) => line.startsWith('› ')))
        return (
          own
            .map((line) => line.slice(2))
            .join('')
            .replaceAll(' ', '') === text.replaceAll(' ', '') && own[0]!.length <= columns
        )
      })
      assert.is(shown.filter((line) => line.startsWith('›')).length, 1, shown.join('\n'))
    }
  })

  inTmux(it, 'shows an edit by its lines, and makes it once the arrows and Enter allow it', async (context) => {
    const cwd = configFolder(context, { 'escapement.config.ts': editor, 'a.txt': 'one\ntwo\nthree\n' })
    const terminal = await startInTmux(context, ['chat'], { cwd })
    await terminal.until((lines) => lines.at(-1) === '›')
    await terminal.type('change it')
    await terminal.press('Enter')
    const hasMenu = (lines: readonly string[]): boolean => lines.at(-1)?.includes('with a reason') === true
    const asked = await terminal.until(hasMenu)
    assert.ok(
      asked.includes('  ? edit_file: a.txt · +1 −1') && asked.includes('    - two') && asked.includes('    + 二 zwei'),
      asked.join('\n'),
    )
    await terminal.press('Enter')
    // Keys between the two questions are for neither.
    await terminal.until((lines) => lines.some((line) => line.startsWith('  (type y')) && hasMenu(lines))
    await terminal.press('Down', 'Down', 'Up')
    await terminal.until((lines) => lines.some((line) => line.startsWith('  › y')))
    assert.is(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'one\ntwo\nthree\n')
    await terminal.press('Enter')
    const done = await terminal.until(
      (lines) => lines.some((line) => line.startsWith('✓ done')) && lines.at(-1) === '›',
    )
    assert.ok(done.includes('It is done:') && done.includes('- a.txt has zwei'), done.join('\n'))
    assert.is(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'one\n二 zwei\nthree\n')
  })

  inTmux(it, 'writes to a pipe what was written, without a sequence of a terminal', async (context) => {
    const cwd = configFolder(context, { 'escapement.config.ts': editor, 'a.txt': 'one\ntwo\nthree\n' })
    const terminal = await startInTmux(context, ['chat', '--yes'], { cwd, into: 'out.txt' })
    await terminal.type('change it')
    await terminal.press('Enter', 'C-d')
    assert.is(await terminal.ended(), 0)
    const out = readFileSync(join(cwd, 'out.txt'), 'utf8')
    assert.ok(out.includes('It is **done**:\n\n- `a.txt` has *zwei*\n'), out)
    assert.not.match(out, '\u001B')
  })

  inTmux(it, 'lists the commands below the line, and takes one', async (context) => {
    const terminal = await chatIn(context, projectFolder(context))
    await terminal.type('/he')
    await terminal.until(endsWith('› /he', '› /help  show this help'))
    await terminal.press('Enter')
    await terminal.until((lines) => lines.some((line) => line.includes('Shift-Enter')) && lines.at(-1) === '›')
  })

  inTmux(it, 'is left by Ctrl-C twice, and the terminal is as it was', async (context) => {
    const terminal = await chatIn(context, projectFolder(context))
    await terminal.type('half')
    await terminal.until(endsWith('› half'))
    await terminal.press('C-c')
    await terminal.until(endsWith('›'))
    await terminal.press('C-c')
    assert.is(await terminal.ended(), 130)
  })

  inTmux(it, 'works where the terminal is dumb', async (context) => {
    const terminal = await chatIn(context, projectFolder(context), { TERM: 'dumb' })
    await terminal.type('hello')
    await terminal.press('Enter')
    const lines = await terminal.until(isAnswered)
    assert.ok(lines.includes('› hello'))
    await terminal.press('C-d')
    assert.is(await terminal.ended(), 0)
  })
})
