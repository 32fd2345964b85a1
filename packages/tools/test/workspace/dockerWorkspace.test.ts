import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import { dockerWorkspace } from '../../src/workspace/dockerWorkspace.ts'
import type { Workspace } from '../../src/workspace/port.ts'
import { workspaceTools } from '../../src/workspace/workspaceTools.ts'
import { fakeDocker } from './contract/fakeDocker.ts'

const limits = { timeoutMs: 20_000 }

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
}

const caller = (workspace: Workspace) => {
  const tools = workspaceTools(workspace)
  return async (name: string, input: object): Promise<string> => {
    const tool = tools.find((one) => one.name === name)!
    const parsed = tool.parse(input)
    if (!parsed.ok) throw new Error(parsed.message)
    return String(await tool.run(parsed.value, toolContext()))
  }
}

describe('a workspace in a container, by a client that runs everything here', (it) => {
  it('starts one container, confined, when it is first used, and removes it', limits, async (context) => {
    const docker = fakeDocker(context)
    const box = dockerWorkspace({
      image: 'node:24',
      root: docker.root,
      program: docker.program,
      mounts: { '/data': '.', '/cache': { from: '.', readOnly: true } },
      user: '7:8',
      env: { KEY: 'value' },
    })
    const call = caller(box)
    assert.not.ok(existsSync(join(docker.root, '../calls.jsonl')))
    await Promise.all([call('write_file', { path: 'src/a.txt', content: 'one\n' }), call('list_files', {})])
    assert.match(await call('run_command', { command: 'cat src/a.txt; echo $KEY' }), /^one\nvalue\n\[exit code 0/)
    await assert.rejects(call('run_command', { command: 'echo no; exit 3' }), /^no\n\[exit code 3/)
    const runs = docker.calls().filter(([verb]) => verb === 'run')
    assert.is(runs.length, 1)
    const line = runs[0]!.join(' ')
    for (const part of [
      '--rm --interactive --init --pull=never',
      '--network=none --pids-limit=1024 --memory=8g --memory-swap=8g --cap-drop=ALL --security-opt=no-new-privileges',
      '--user=7:8',
      `--volume=${process.cwd()}:/data --volume=${process.cwd()}:/cache:ro`,
      `--workdir=${docker.root} --entrypoint=/bin/sh node:24 -c`,
    ])
      assert.ok(line.includes(part), `${part} in ${line}`)
    assert.is(docker.containers().length, 1)
    await box.close()
    assert.equal(docker.containers(), [])
  })

  it('names the path behind a link, by which rules can judge a call', limits, async (context) => {
    const docker = fakeDocker(context)
    const box = dockerWorkspace({ image: 'any', root: docker.root, program: docker.program })
    context.cleanup(() => box.close())
    const call = caller(box)
    await call('run_command', { command: 'mkdir real; echo x > real/a; ln -s real alias; ln -s /etc out' })
    await assert.rejects(
      call('read_file', { path: 'alias/a' }),
      /^path "alias\/a" leads through a symbolic link; use "real\/a"$/,
    )
    await assert.rejects(
      call('write_file', { path: 'out/x', content: '' }),
      /is outside the workspace, by a symbolic link/,
    )
  })

  it('fails a call when its container is gone, and the next has another', limits, async (context) => {
    const docker = fakeDocker(context)
    const box = dockerWorkspace({ image: 'any', root: docker.root, program: docker.program })
    const call = caller(box)
    await call('write_file', { path: 'a', content: 'x' })
    const [name = ''] = docker.containers()
    await new Promise((resolve) => spawn(docker.program, ['rm', '--force', name]).once('close', resolve))
    await assert.rejects(call('run_command', { command: 'ls' }), /^The workspace failed: .*not running.*Try again/s)
    assert.match(await call('run_command', { command: 'ls' }), /^a\n/)
    assert.not.equal(docker.containers(), [name])
    for (const left of docker.containers())
      await new Promise((resolve) => spawn(docker.program, ['rm', '--force', left]).once('close', resolve))
  })

  it('fails a command whose container goes away under it', limits, async (context) => {
    const docker = fakeDocker(context)
    const call = caller(dockerWorkspace({ image: 'any', root: docker.root, program: docker.program }))
    const running = call('run_command', { command: 'touch begun; sleep 1000' }).then(
      () => 'it ended',
      (thrown: unknown) => messageOf(thrown),
    )
    await until(() => existsSync(join(docker.root, 'begun')))
    for (const name of docker.containers())
      await new Promise((resolve) => spawn(docker.program, ['rm', '--force', name]).once('close', resolve))
    assert.match(await running, /^The workspace failed: the container has ended\. Try again/)
  })

  it('says what Docker says when there is no image, or no Docker', limits, async (context) => {
    const docker = fakeDocker(context)
    const failing = caller(dockerWorkspace({ image: 'missing', root: docker.root, program: docker.program }))
    await assert.rejects(
      failing('list_files', {}),
      /The workspace failed: the container could not be started: .*No such image: missing/,
    )
    const without = caller(dockerWorkspace({ image: 'any', program: join(docker.root, 'none') }))
    await assert.rejects(without('list_files', {}), /could not be started: .*ENOENT/)
  })

  it('leaves no container and no command when its process is killed', limits, async (context) => {
    const docker = fakeDocker(context)
    const holder = spawn(process.execPath, [join(import.meta.dirname, 'dockerHolder.ts'), docker.program, docker.root])
    await until(() => existsSync(join(docker.root, 'begun')))
    assert.is(docker.containers().length, 1)
    holder.kill('SIGKILL')
    await until(() => docker.containers().length === 0)
  })

  it('reads only files that may have a match, where there is rg', limits, async (context) => {
    const docker = fakeDocker(context)
    // As rg is called here: names of files with a match, each with a NUL behind it.
    writeFileSync(
      join(docker.bin, 'rg'),
      '#!/bin/sh\nfor each do :; done\nwhile [ "$1" != -e ]; do shift; done\nexec grep -rlZE -e "$2" "$each"\n',
      { mode: 0o755 },
    )
    const box = dockerWorkspace({ image: 'any', root: docker.root, program: docker.program, has: ['rg'] })
    context.cleanup(() => box.close())
    const read: string[] = []
    const call = caller({
      ...box,
      read: (path, options) => {
        read.push(path)
        return box.read(path, options)
      },
    })
    for (const name of ['a.txt', 'b.txt', 'src/c.txt'])
      writeFileSync(join(docker.root, name.replace('src/', '')), `in ${name}\n`)
    assert.is(await call('search_files', { pattern: 'in [bs]' }), 'b.txt:1: in b.txt\nc.txt:1: in src/c.txt')
    assert.equal(read, ['b.txt', 'c.txt'])
    // What rg would not take as JavaScript does is looked for in every file.
    assert.is(await call('search_files', { pattern: 'in (?=b)' }), 'b.txt:1: in b.txt')
    assert.equal(read.slice(2), ['a.txt', 'b.txt', 'c.txt'])
  })

  it('refuses options that Docker would take for others', () => {
    for (const wrong of [
      { image: '-v' },
      { image: 'a', root: 'relative' },
      { image: 'a', mounts: { '/a:b': '.' } },
      { image: 'a', mounts: { '/a': 'x:y' } },
      { image: 'a', network: '--privileged' },
      { image: 'a', env: { 'A=B': '' } },
      { image: 'a', more: 1 },
      {},
    ])
      assert.throws(() => dockerWorkspace(wrong as never), /^dockerWorkspace: /, JSON.stringify(wrong))
  })
})
