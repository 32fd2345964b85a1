import { setTimeout as pause } from 'node:timers/promises'
import {
  type Checks,
  checkWith,
  demand,
  demandEqual,
  demandRefusal,
  never,
  pathsOf,
  readBytes,
  readText,
  run,
  until,
  write,
} from './demands.ts'

const tenMB = 10_000_000

const isThere = async (workspace: Parameters<typeof readBytes>[0], path: string): Promise<boolean> =>
  (await readBytes(workspace, path)) !== null

export const commandChecks: Checks = {
  'runs a command, with its output and its code': checkWith(['commands'], async (workspace) => {
    demandEqual(
      await run(workspace, 'echo hello').then(({ output, code }) => [output, code]),
      ['hello\n', 0],
      'a command that succeeds.',
    )
    demandEqual(
      await run(workspace, 'echo out; exit 3').then(({ output, code }) => [output, code]),
      ['out\n', 3],
      'a command that fails.',
    )
    demandEqual((await run(workspace, 'no-such-program-here 2>/dev/null')).code, 127, 'a program that is not there.')
  }),
  'gives standard output and standard error': checkWith(['commands'], async (workspace) => {
    const { output } = await run(workspace, 'echo one; echo two >&2')
    demandEqual(output.split('\n').toSorted(), ['', 'one', 'two'], 'both outputs must come.')
  }),
  'keeps both outputs in the order they were written': checkWith(['commands', 'groups'], async (workspace) => {
    const { output } = await run(workspace, 'for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done')
    const lines = Array.from({ length: 9 }, (_, index) => `o${index + 1}\ne${index + 1}\n`)
    demandEqual(output, lines.join(''), 'lines must stay in their order.')
  }),
  'takes a command line as a shell does, whatever is in it': checkWith(['commands'], async (workspace) => {
    const lines: readonly (readonly [command: string, output: string])[] = [
      [`echo "it's" '"quoted"'`, `it's "quoted"\n`],
      ['echo a\necho b', 'a\nb\n'],
      ['cat <<END\n$((1 + 2)) ` `\nEND', '3 \n'],
      ['echo $# "$*"', '0 \n'],
      ['printf %s "漢字 🙂 é"', '漢字 🙂 é'],
      ['echo one # a comment', 'one\n'],
      ['false || echo two; true && echo three', 'two\nthree\n'],
      ['echo a | tr a b', 'b\n'],
    ]
    for (const [command, output] of lines)
      demandEqual((await run(workspace, command)).output, output, `${JSON.stringify(command)} is a command line.`)
  }),
  'takes a command of 100 kB': checkWith(['commands'], async (workspace) => {
    const text = 'x'.repeat(100_000)
    demandEqual(
      (await run(workspace, `printf %s ${text} | wc -c`)).output.trim(),
      '100000',
      'a long command must be run.',
    )
  }),
  'refuses a NUL in a command': checkWith(['commands'], async (workspace) => {
    await demandRefusal(() => run(workspace, 'echo a\0b'), 'WORKSPACE_REFUSED', 'no shell takes a NUL.')
  }),
  'starts in the root, or in the folder that is asked for': checkWith(['commands'], async (workspace) => {
    await write(workspace, 'a folder/b/file', 'x')
    demandEqual((await run(workspace, 'ls')).output, 'a folder\n', 'a command starts in the root.')
    demandEqual((await run(workspace, 'ls', { cwd: 'a folder/b' })).output, 'file\n', 'cwd is another folder.')
    await demandRefusal(() => run(workspace, 'ls', { cwd: 'none' }), 'WORKSPACE_MISSING', 'the folder must be there.')
    await demandRefusal(
      () => run(workspace, 'ls', { cwd: 'a folder/b/file' }),
      'WORKSPACE_KIND',
      'a file is no folder.',
    )
  }),
  'shares its files with commands': checkWith(['commands'], async (workspace) => {
    await write(workspace, 'in.txt', 'from here')
    demandEqual(
      (await run(workspace, 'cat in.txt; printf "from there" > out.txt')).output,
      'from here',
      'commands see files.',
    )
    demandEqual(await readText(workspace, 'out.txt'), 'from there', 'files of commands are seen.')
  }),
  'sets variables, and takes one away': checkWith(['commands'], async (workspace) => {
    const env = { GREETING: `it's $HOME "here"\nand there`, EMPTY: '', HOME: undefined }
    const { output } = await run(workspace, 'printf "%s|%s|%s" "$GREETING" "${EMPTY-none}" "${HOME-none}"', { env })
    demandEqual(output, `it's $HOME "here"\nand there||none`, 'variables are as they are given.')
  }),
  'gives a command no input': checkWith(['commands'], async (workspace) => {
    demandEqual((await run(workspace, 'cat; echo done')).output, 'done\n', 'its input must be at its end.')
  }),
  'passes output that is no text': checkWith(['commands', 'groups'], async (workspace) => {
    const pieces: Uint8Array[] = []
    await run(workspace, String.raw`printf '\000\377\200a'`, {
      onOutput: (bytes) => void pieces.push(Uint8Array.from(bytes)),
    })
    demandEqual(Array.from(Buffer.concat(pieces)), [0, 255, 128, 97], 'no byte may change.')
  }),
  'passes 10 MB of output': checkWith(['commands', 'groups'], async (workspace) => {
    const { bytes, code } = await run(workspace, `yes 0123456 | head -c ${tenMB}`)
    demandEqual([bytes, code], [tenMB, 0], 'all of a long output must come.')
  }),
  'passes output before the command has ended': checkWith(['commands', 'streams'], async (workspace) => {
    let output = ''
    const controller = new AbortController()
    const running = run(workspace, 'echo first; sleep 1000', {
      signal: controller.signal,
      onOutput: (bytes) => {
        output += new TextDecoder().decode(bytes)
      },
    })
    await until(async () => output === 'first\n')
    controller.abort(new Error('stop'))
    demandEqual((await running).stopped, 'abort', 'and then it is stopped.')
  }),
  'runs commands side by side': checkWith(['commands'], async (workspace) => {
    const outputs = await Promise.all(
      ['a', 'b', 'c'].map((name) => run(workspace, `echo ${name} > ${name}; cat ${name}`)),
    )
    demandEqual(
      outputs.map(({ output }) => output),
      ['a\n', 'b\n', 'c\n'],
      'no command may disturb another.',
    )
  }),
  'begins no command once its signal is aborted': checkWith(['commands'], async (workspace) => {
    const reason = new Error('stop')
    await demandRefusal(
      () => run(workspace, 'touch begun', { signal: AbortSignal.abort(reason) }),
      { reason },
      'exec must stop.',
    )
    demandEqual(await pathsOf(workspace, '.'), [], 'nothing may have begun.')
  }),
  'ends a command whose time is up, and says so': checkWith(['commands'], async (workspace) => {
    const end = await run(workspace, 'sleep 1000; echo late', { timeoutMs: 300 })
    demandEqual([end.stopped, end.code, end.output], ['timeout', null, ''], 'it must say why it ended.')
  }),
  'ends a command that is aborted, and says so': checkWith(['commands'], async (workspace) => {
    const controller = new AbortController()
    const running = run(workspace, 'touch begun; sleep 1000', { signal: controller.signal })
    await until(() => isThere(workspace, 'begun'))
    controller.abort(new Error('stop'))
    const end = await running
    demandEqual([end.stopped, end.code], ['abort', null], 'it must say why it ended.')
  }),
  'ends a command that will not listen': checkWith(['commands', 'groups'], async (workspace) => {
    const controller = new AbortController()
    const running = run(workspace, `trap '' TERM INT HUP; while :; do touch alive; sleep 0.05; done`, {
      signal: controller.signal,
    })
    await until(() => isThere(workspace, 'alive'))
    controller.abort(new Error('stop'))
    demandEqual((await running).stopped, 'abort', 'it must be killed.')
    await workspace.remove('alive', { signal: never }).catch(() => {})
    await run(workspace, 'sleep 0.3')
    demandEqual(await isThere(workspace, 'alive'), false, 'and not only said to be.')
  }),
  'ends the children of a command with it': checkWith(['commands', 'groups'], async (workspace) => {
    const controller = new AbortController()
    // The child says that it lives by a file that is made again and again.
    const running = run(workspace, '(while :; do touch alive; sleep 0.05; done) & (sleep 1000 | sleep 1000)', {
      signal: controller.signal,
    })
    await until(() => isThere(workspace, 'alive'))
    controller.abort(new Error('stop'))
    await running
    await workspace.remove('alive', { signal: never }).catch(() => {})
    await run(workspace, 'sleep 0.3')
    demandEqual(await isThere(workspace, 'alive'), false, 'no child may live on.')
  }),
  'ends what a command leaves running': checkWith(['commands', 'groups'], async (workspace) => {
    const end = await run(workspace, '(while :; do touch alive; sleep 0.05; done) & sleep 0.2; echo over')
    demandEqual([end.output, end.code], ['over\n', 0], 'the command itself has ended well.')
    await workspace.remove('alive', { signal: never }).catch(() => {})
    await run(workspace, 'sleep 0.3')
    demandEqual(await isThere(workspace, 'alive'), false, 'nothing may live on in the background.')
  }),
  'says that a command was killed': checkWith(['commands', 'groups'], async (workspace) => {
    const { code, killedBy } = await run(workspace, 'kill -KILL $$')
    demand(code === null ? killedBy !== undefined : code === 137, 'a killed command has no code, or 137.')
  }),
  'begins no command before it was told what would be left': checkWith(['commands'], async (workspace) => {
    if (workspace.endLeft === undefined) return
    const told: unknown[] = []
    const end = await run(workspace, 'ls', {
      started: async (left) => {
        told.push(JSON.parse(JSON.stringify(left)))
        demandEqual(await pathsOf(workspace, '.'), [], 'the command must not have begun.')
      },
    })
    demandEqual([told.length, end.code], [1, 0], 'it is told once.')
    const refusal = new Error('the log is full')
    const refused = run(workspace, 'touch begun', { started: () => Promise.reject(refusal) })
    await demandRefusal(() => refused, { reason: refusal }, 'exec must reject as that does.')
    demandEqual(await pathsOf(workspace, '.'), [], 'and the command never begins.')
    await workspace.endLeft(told[0])
    await workspace.endLeft('no such thing')
  }),
  'ends its commands when it is closed': checkWith(['commands'], async (workspace) => {
    const running = run(workspace, 'touch begun; sleep 1000', { timeoutMs: 600_000 }).then(
      () => 'ended',
      () => 'ended',
    )
    await until(() => isThere(workspace, 'begun'))
    await workspace.close()
    const late = new AbortController()
    const waited = pause(8_000, 'it runs on', { signal: late.signal }).catch(() => 'never')
    const end = await Promise.race([running, waited])
    late.abort()
    demandEqual(end, 'ended', 'no command may outlive the workspace.')
  }),
}
