import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, describe } from '../../../../../test/support/suite.ts'
import { setModes, treeFolder } from './treeFolder.ts'

const limits = { timeoutMs: 60_000 }

describe('undoing what commands did to a folder', (it) => {
  it('brings back a folder that was removed: contents, permissions, links, empty folders', limits, async (context) => {
    const { dir, run, undo, seen, done } = treeFolder(context, {
      'src/a.txt': 'one',
      'src/deep/b.bin': Buffer.from([0, 255, 10, 13, 128]),
      'src/deep/run.sh': '#!/bin/sh\n',
      'src/ünï cödé\n.txt': '',
      'keep.txt': 'kept',
    })
    mkdirSync(join(dir, 'src/empty/inner'), { recursive: true })
    symlinkSync('deep/run.sh', join(dir, 'src/link'))
    symlinkSync('nowhere', join(dir, 'src/broken'))
    setModes(dir, { 'src/deep/run.sh': 0o751, 'src/a.txt': 0o600, 'src/empty': 0o711, 'src/deep': 0o555 })
    const before = seen()
    assert.match(await run('chmod 755 src/deep && rm -r src && echo gone'), /^gone\n\[exit code 0/)
    assert.equal(Object.keys(seen()), ['keep.txt'])
    assert.equal(await undo(), [])
    assert.equal(seen(), before)
    // Again, as after a crash: nothing is left to do.
    assert.equal(await undo(), [])
    assert.equal(seen(), before)
    assert.match(String(done[0]?.of), /^files changed by chmod 755 src\/deep && rm -r src && echo gone$/)
  })

  it('takes away what was made, and gives changed files and kinds back', limits, async (context) => {
    const { dir, run, undo, seen } = treeFolder(context, { 'a.txt': 'one', 'b.txt': 'bee', 'c/x': 'x', d: 'd' })
    symlinkSync('a.txt', join(dir, 'l'))
    setModes(dir, { 'b.txt': 0o444 })
    const before = seen()
    await run(`echo two > a.txt; rm -f b.txt; ln -s a.txt b.txt; rm -r c; echo c > c; rm d; mkdir -p d/e; echo > d/e/f;
      rm l; echo l > l; mkdir -p new/deep; echo n > new/deep/n; chmod 700 new; ln -s nowhere new/link; chmod 4755 a.txt`)
    assert.is(readFileSync(join(dir, 'd/e/f'), 'utf8'), '\n')
    assert.equal(await undo(), [])
    assert.equal(seen(), before)
  })

  it('undoes a formatter, with edits before and after it, one after the other', limits, async (context) => {
    const { call, run, undo, seen } = treeFolder(context, { 'src/a.js': 'let  a=1\n', 'src/b.js': 'let  b=2\n' })
    const before = seen()
    await call('edit_file', { path: 'src/a.js', oldText: 'a=1', newText: 'a=3' })
    await run("sed -i.bak 's/  / /; s/=/ = /' src/*.js && rm src/*.bak")
    await call('edit_file', { path: 'src/a.js', oldText: 'a = 3', newText: 'a = 4' })
    await call('edit_file', { path: 'src/a.js', oldText: 'a = 4', newText: 'a = 5' })
    await call('write_file', { path: 'src/new/c.js', content: 'c' })
    await run('rm -r src/new')
    await call('write_file', { path: 'src/new/c.js', content: 'd' })
    assert.equal(await undo(), [])
    assert.equal(seen(), before)
  })

  it('leaves and names what somebody else changed since, and brings everything else back', limits, async (context) => {
    const { dir, run, undo, seen } = treeFolder(context, { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c', 'd/x': 'x' })
    await run('for f in *.txt; do echo more >> $f; done; mkdir new; echo n > new/n; echo o > new/o; rm -r d')
    writeFileSync(join(dir, 'a.txt'), 'mine')
    rmSync(join(dir, 'b.txt'))
    writeFileSync(join(dir, 'new/theirs'), 'theirs')
    writeFileSync(join(dir, 'new/n'), 'mine')
    mkdirSync(join(dir, 'd'))
    writeFileSync(join(dir, 'd/y'), 'theirs')
    const reasons = await undo()
    assert.equal(reasons, [
      'all else is as before, but not a.txt (it was changed by something else since), b.txt (it is gone), ' +
        'new/n (it was changed by something else since)',
    ])
    const { 'a.txt': a, 'b.txt': b, 'c.txt': c, 'new/n': n, 'new/o': o, 'new/theirs': t, 'd/x': x, 'd/y': y } = seen()
    assert.equal(
      [a, b, c, n, o, t, x, y].map((one) => one?.replace(/^file \d+ /, '')),
      ['mine', undefined, 'c', 'mine', undefined, 'theirs', 'x', 'theirs'],
    )
  })

  it('never follows a folder that became a link', limits, async (context) => {
    const outside = treeFolder(context, { 'a.txt': 'theirs' })
    const { dir, run, undo } = treeFolder(context, { 'src/a.txt': 'one', 'gone/b.txt': 'b' })
    await run('echo theirs > src/a.txt; rm -r gone; echo > src/new')
    rmSync(join(dir, 'src'), { recursive: true })
    symlinkSync(outside.dir, join(dir, 'src'))
    writeFileSync(join(outside.dir, 'new'), '\n')
    symlinkSync(outside.dir, join(dir, 'gone'))
    const [why = ''] = await undo()
    assert.match(why, /its folder is a link now/)
    assert.equal(outside.seen(), { 'a.txt': outside.seen()['a.txt'], new: outside.seen()['new'] })
  })

  it('undoes a checkout, with what git knows of it', limits, async (context) => {
    const { dir, run, undo, seen } = treeFolder(context, { 'a.txt': 'one\n', 'only.txt': 'main\n' })
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: dir, encoding: 'utf8' }).trim()
    git('init', '-q', '-b', 'main')
    git('add', '.')
    git('commit', '-qm', 'one')
    git('checkout', '-qb', 'other')
    git('rm', '-q', 'only.txt')
    writeFileSync(join(dir, 'a.txt'), 'other\n')
    git('commit', '-qam', 'two')
    git('checkout', '-q', 'main')
    writeFileSync(join(dir, 'a.txt'), 'one\nnot committed\n')
    git('stash', '-q')
    const [head, before] = [git('rev-parse', 'HEAD'), seen()]
    await run('git checkout -q other && git stash pop || git checkout -q --theirs .; git config x.y z')
    await run('git -c user.name=a -c user.email=a@b commit -qam three && git branch -D main')
    assert.is(git('branch', '--show-current'), 'other')
    assert.equal(await undo(), [])
    assert.equal(
      [git('branch', '--show-current'), git('rev-parse', 'HEAD'), git('status', '--porcelain')],
      ['main', head, ''],
    )
    assert.is(git('fsck').includes('missing'), false)
    assert.is(git('stash', 'list').length > 0, true)
    assert.equal(
      Object.entries(seen((path) => path.startsWith('.git/index') || path.startsWith('.git/objects'))),
      Object.entries(before).filter(([path]) => !path.startsWith('.git/index') && !path.startsWith('.git/objects')),
    )
  })

  it('leaves a repository as a whole once somebody else worked with it, or git is at work', limits, async (context) => {
    const { dir, run, undo } = treeFolder(context, { 'a.txt': 'one\n' })
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: dir, encoding: 'utf8' }).trim()
    git('init', '-q', '-b', 'main')
    git('add', '.')
    git('commit', '-qm', 'one')
    await run('git checkout -qb other; echo two > a.txt; git -c user.name=a -c user.email=a@b commit -qam two')
    writeFileSync(join(dir, '.git/HEAD.lock'), '')
    assert.equal(await undo(), ['all else is as before, but not .git (git is at work there)'])
    rmSync(join(dir, '.git/HEAD.lock'))
    assert.is(readFileSync(join(dir, 'a.txt'), 'utf8'), 'one\n')
    git('commit', '-qam', 'mine')
    assert.match((await undo())[0] ?? '', /but not \.git \(.*: it was changed by something else since\)$/)
    assert.is(git('log', '-1', '--format=%s'), 'mine')
    assert.is(git('fsck').includes('missing'), false)
  })

  it('removes a repository that a command made, and says when the objects of one are gone', limits, async (context) => {
    const { run, undo, seen } = treeFolder(context, { 'a.txt': 'one\n' })
    const before = seen()
    await run(
      'git init -q sub && cd sub && echo x > x && git add . && git -c user.name=a -c user.email=a@b commit -qm x',
    )
    assert.equal(await undo(), [])
    assert.equal(seen(), before)
    const made = treeFolder(context, { 'a.txt': 'one\n' })
    execFileSync('git', ['init', '-q'], { cwd: made.dir })
    await made.run('rm -rf .git a.txt')
    assert.equal(await made.undo(), [
      'all else is as before, but not .git (objects: what git had stored in it was not kept)',
    ])
    assert.equal(made.seen(), before)
  })
})
