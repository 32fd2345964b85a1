import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { serveAgents } from '../../../bridge/test/server/bridgeHarness.ts'
import { startCli, type CliRunOptions } from '../cliInProcess.ts'
import { inTmux, startInTmux } from '../tmux.ts'
import { projectFolder } from '../cliChild.ts'
import { writingAgent } from '../writingAgent.ts'

/** A server with a "writer". */
async function served(context: CaseContext) {
  const writer = writingAgent()
  const { runtime, server } = await serveAgents(context, [writer.definition])
  const agent = await runtime.spawn(writer.definition, { id: 'a1' })
  const attach = (options: CliRunOptions, ...args: readonly string[]) =>
    startCli(context, ['attach', server.url, 'a1', ...args], { isTerminal: true, ...options })
  return { ...writer, agent, attach, url: server.url }
}

const said = 'Some **bold** text\n\n- `one`\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n'

/** All that is shown of a reply, with colours and cursor moves. */
async function shown(context: CaseContext, options: CliRunOptions, ...args: readonly string[]): Promise<string> {
  const { attach, write, end } = await served(context)
  const cli = attach(options, ...args)
  if (options.isTerminal === false) {
    cli.send('go\n')
    cli.endInput()
  } else {
    await cli.until('› ')
    cli.send('go\r')
  }
  for (const piece of said.match(/[^]{1,3}/g)!) write(piece)
  end()
  await cli.until('✓ done')
  if (options.isTerminal !== false) cli.send('\u0004')
  assert.is(await cli.ended, 0)
  return cli.raw
}

describe('a reply that streams', (it) => {
  it('is Markdown in colours at a terminal', async (context) => {
    const raw = await shown(context, {})
    assert.ok(raw.includes('Some \u001B[1mbold\u001B[22m text\n'), JSON.stringify(raw))
    assert.ok(raw.includes('\u001B[2m- \u001B[22m\u001B[36mone\u001B[39m\n'))
  })

  for (const [where, options, args] of [
    ['in a pipe', { isTerminal: false }, []],
    ['in a pipe that is to have colours', { isTerminal: false, env: { FORCE_COLOR: '1' } }, []],
    ['in a pipe, whatever the theme', { isTerminal: false }, ['--theme', 'light']],
    ['where the terminal is dumb', { env: { TERM: 'dumb' } }, []],
  ] as const)
    it(`is as it was written ${where}`, async (context) => {
      const raw = await shown(context, options, ...args)
      assert.ok(raw.includes('Some **bold** text\n'), JSON.stringify(raw))
      assert.ok(raw.includes('- `one`\n'))
      assert.ok(raw.includes('|---|---|\n'))
      if ('isTerminal' in options && !('env' in options)) assert.not.match(raw, '\u001B')
    })

  for (const [where, options, args] of [
    ['where no colours are wanted', { env: { NO_COLOR: '1' } }, []],
    ['with the theme "none"', { env: { FORCE_COLOR: '1' } }, ['--theme', 'none']],
  ] as const)
    it(`keeps its marks, and has its tables drawn, ${where}`, async (context) => {
      const raw = await shown(context, options, ...args)
      assert.ok(raw.includes('Some **bold** text\n'), JSON.stringify(raw))
      assert.ok(raw.includes('- `one`\n'))
      assert.ok(raw.includes('a │ b\n──┼──\n1 │ 2\n'))
    })

  it('stays below what comes in between, and is whole where the chat is left', async (context) => {
    const { attach, write } = await served(context)
    const cli = attach({})
    await cli.until('› ')
    cli.send('go\r')
    write('one **two')
    await cli.until('one **two')
    cli.send('and more\r')
    await cli.until('(queued for the next step)\none **two')
    write('** three')
    await cli.until('one two three')
    cli.send('\u0004')
    assert.is(await cli.ended, 0)
    assert.match(cli.stdout, /one two three\ndetached; the run continues;/)
  })

  inTmux(it, 'keeps its tables, colours and wide characters while the terminal is made narrower', async (context) => {
    const { url, write, end } = await served(context)
    const terminal = await startInTmux(context, ['attach', url, 'a1'], { cwd: projectFolder(context) })
    await terminal.until((lines) => lines.at(-1) === '›')
    await terminal.type('go')
    await terminal.press('Enter')
    write('# Übersicht\n\n日本語 and e\u0301 are **wide** and combi')
    await terminal.until((lines) => lines.includes('日本語 and e\u0301 are wide and combi'))
    write('ned.\n\n| 名前 | size |\n|--|--:|\n| 日本 | 12 |\n| a | 7')
    await terminal.until((lines) => lines.includes('日本 │   12'))
    await terminal.resize(50)
    await terminal.until((lines) => lines.includes('a    │    7') && lines.at(-1) === '›')
    write(' |\n\nA paragraph that is longer than the terminal is now wide, so it')
    await terminal.until((lines) => lines.includes('now wide, so it'))
    await terminal.resize(40)
    await terminal.until((lines) => lines.includes('terminal is now wide, so it'))
    write(' goes on.\n')
    end()
    const lines = await terminal.until((all) => all.some((line) => line.startsWith('✓ done')) && all.at(-1) === '›')
    const own = lines.slice(
      lines.indexOf('Übersicht'),
      lines.findIndex((line) => line.startsWith('✓ done')),
    )
    assert.equal(own, [
      'Übersicht',
      '日本語 and e\u0301 are wide and combined.',
      '名前 │ size',
      '─────┼─────',
      '日本 │   12',
      'a    │    7',
      'A paragraph that is longer than the',
      'terminal is now wide, so it goes on.',
    ])
  })

  inTmux(it, 'is written whole where it is longer than the screen', async (context) => {
    const { url, write, end } = await served(context)
    const terminal = await startInTmux(context, ['attach', url, 'a1'], { cwd: projectFolder(context) })
    await terminal.until((lines) => lines.at(-1) === '›')
    await terminal.type('go')
    await terminal.press('Enter')
    write('| a | b |\n|--|--|\n')
    for (let row = 0; row < 40; row += 1) write(`| row ${row} | x |\n`)
    await terminal.until((lines) => lines.includes('row 39 │ x'))
    end()
    await terminal.until((all) => all.some((line) => line.startsWith('✓ done')) && all.at(-1) === '›')
    const all = (await terminal.all()).filter((line) => line.startsWith('row '))
    assert.equal(
      all,
      Array.from({ length: 40 }, (_, row) => `row ${row}${row < 10 ? ' ' : ''} │ x`),
    )
  })
})
