import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { menu } from '../../tools/site/menu.ts'
import { beside } from '../../tools/site/prepare/beside.ts'
import { collectPages } from '../../tools/site/prepare/collectPages.ts'
import { figure } from '../../tools/site/prepare/figure.ts'
import { startFigures } from '../../tools/site/prepare/figures.ts'
import { livePlaces } from '../../tools/site/prepare/liveModules.ts'
import { outsideCode } from '../../tools/site/prepare/outsideCode.ts'
import { ownPages } from '../../tools/site/prepare/ownPages.ts'
import { pageText } from '../../tools/site/prepare/pageText.ts'
import { withPictures } from '../../tools/site/prepare/pictures.ts'
import { sidebarOf, unlistedIn } from '../../tools/site/prepare/sidebar.ts'
import { contentFile } from '../../tools/site/prepare/sitePage.ts'
import { addressFrom, linkTarget, slugOf } from '../../tools/site/prepare/slugs.ts'
import { placed, taggedVersions } from '../../tools/site/prepare/versions.ts'
import { statedVersions, theirCode } from '../../tools/site/theirs.ts'
import { assert, describe } from '../support/suite.ts'

const repository = join(import.meta.dirname, '..', '..')
const read = (path: string): Promise<string> => readFile(join(repository, path), 'utf8')

describe('pages for the documentation site', (it) => {
  it('take their title and description from the file', () => {
    const { title, description, body } = pageText(
      '# The `page`\n\n![a picture](a.svg)\n\nIt says **this**, and [that](b.md).\n\nMore.\n',
    )
    assert.is(title, 'The page')
    assert.is(description, 'It says this, and that.')
    assert.ok(body.startsWith('![a picture]'))
  })

  it('lead to their file, to be changed, where the address of the repository is known', () => {
    const page = { slug: 'guide/tools', title: 'Tools', description: 'Tools.', body: 'Text.' }
    const made = { ...page, path: 'docs/guide/tools.md' }
    const address = 'https://host.test/owner/name'
    assert.match(contentFile(made, address), `\neditUrl: "${address}/edit/main/docs/guide/tools.md"\n---\n`)
    assert.not.match(contentFile(made), 'editUrl')
    assert.not.match(contentFile(page, address), 'editUrl', 'of no file')
  })

  it('have their links changed, and no code', () => {
    const change = (text: string): string => text.replaceAll('a', 'b')
    assert.is(outsideCode('a `a` a\n```ts\na\n```\na ``a ` a`` a', change), 'b `a` b\n```ts\na\n```\nb ``a ` a`` b')
  })

  it('stand at addresses that hold wherever the site is served', () => {
    assert.is(slugOf('docs/inYourApplication.md'), 'in-your-application')
    assert.is(slugOf('docs/comingFrom/aiSdk.md'), 'coming-from/ai-sdk')
    assert.is(slugOf('examples/05-own-model.ts'), 'source/examples/05-own-model-ts')
    assert.is(slugOf('README.md'), '')
    assert.is(slugOf('SECURITY.md'), 'security-policy')
    assert.is(slugOf('CODE_OF_CONDUCT.md'), 'code-of-conduct')
    assert.is(addressFrom('coming-from/pi', 'guide'), '../../guide/')
    assert.is(addressFrom('', 'guide'), './guide/')
    assert.equal(linkTarget('docs/comingFrom/pi.md', '../guide.md#tools'), { path: 'docs/guide.md', hash: '#tools' })
  })

  it('show code of other projects beside ours', () => {
    const made = beside('```ts theirs\na()\n```\n\n```ts\nb()\n```\n', 'Coming from the OpenAI Agents SDK')
    assert.match(
      made,
      /<div class="beside">\n\n```ts title="OpenAI Agents SDK" wrap\na\(\)\n```\n\n```ts title="escapement" wrap\nb\(\)/,
    )
  })

  it('have places for what runs in them', () => {
    const { markdown, scripts } = livePlaces('One\n\n<!-- live: chart -->\n\nTwo')
    assert.equal(scripts, ['chart'])
    assert.match(markdown, /<div id="live-chart"/)
  })

  it('have pictures that follow the scheme of the page and share no id', async () => {
    const svg = await read('docs/pictures/agent.svg')
    const [one, two] = ['one', 'two'].map((name) => figure(svg, { alt: 'A "picture"', name }))
    const ids = (text: string): readonly string[] => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)
    assert.equal(ids(one!), ['picture-one', 'picture-one-title', 'picture-one-desc'])
    assert.equal(
      ids(two!).filter((id) => ids(one!).includes(id)),
      [],
    )
    assert.match(one!, /aria-labelledby="picture-one-title picture-one-desc"/)
    assert.match(one!, /\[data-theme='dark'\] #picture-one \{ --paper/)
    assert.match(one!, /aria-label="A &quot;picture&quot;"/)
    assert.ok(!one!.includes('prefers-color-scheme'))
    // An empty line would end the piece of HTML in the page.
    assert.ok(!one!.includes('\n\n'))
  })

  it('have screenshots as files, and name one that is not there', async () => {
    const made = await withPictures(repository, 'docs/inspector.md', '![A "page"](pictures/inspector/chart.webp)')
    const image = (scheme: string, file: string): string =>
      `<img class="screenshot of-${scheme}" src="../pictures/inspector/${file}.webp" alt="A &quot;page&quot;" loading="lazy" />`
    assert.is(made, image('light', 'chart') + image('dark', 'chart-dark'))
    await assert.rejects(
      withPictures(repository, 'docs/inspector.md', '![A](pictures/no.png)'),
      /shows pictures\/no\.png/,
    )
  })

  it('are all in the menu', { timeoutMs: 20_000 }, async () => {
    const pages = [...(await ownPages(repository)), ...(await collectPages(repository))]
    assert.equal(unlistedIn(menu, pages), [], 'add these to tools/site/menu.ts')
    const slugs = pages.map(({ slug }) => slug)
    const named = menu.flatMap((group) => group.pages.map((entry) => (typeof entry === 'string' ? entry : entry[0])))
    assert.equal(
      named.filter((slug) => slug !== 'api' && !slugs.includes(slug)),
      [],
      'tools/site/menu.ts names pages that are not there',
    )
  })

  it('that no menu names come last in it', () => {
    const page = (slug: string) => ({ slug, title: slug, description: '', body: '' })
    const made = sidebarOf([{ label: 'Start', pages: ['', ['a', 'Short']] }], [page(''), page('a'), page('b')])
    assert.equal(
      made.map(({ label, items }) => [label, items.map((item) => item.label)]),
      [
        ['Start', ['', 'Short']],
        ['More', ['b']],
      ],
    )
  })
})

describe('versions of the site', (it) => {
  const names = (...versions: readonly string[]) =>
    placed(versions.map((name) => ({ name, root: '' }))).map(({ name, folder, isNewest }) => [name, folder, isNewest])

  it('have the newest release at the root, the others in folders', () => {
    assert.equal(names('0.9.0', 'unreleased', '0.10.0'), [
      ['unreleased', 'unreleased/', false],
      ['0.10.0', '', true],
      ['0.9.0', '0.9.0/', false],
    ])
  })

  it('are tags that have pages, and the working tree', { timeoutMs: 20_000 }, async ({ cleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'escapement-tags-'))
    cleanup(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
    const tree = join(folder, 'tree')
    await mkdir(tree)
    const author = [
      '-c',
      'user.name=n',
      '-c',
      'user.email=n@example.com',
      '-c',
      'commit.gpgsign=false',
      '-c',
      'tag.gpgsign=false',
    ]
    const git = (...args: readonly string[]): void =>
      void execFileSync('git', [...author, ...args], { cwd: tree, stdio: 'pipe' })
    git('init', '--quiet')
    await writeFile(join(tree, 'README.md'), '# one')
    git('add', '.')
    git('commit', '--quiet', '-m', 'one')
    git('tag', 'v0.1.0')
    git('tag', 'not-a-version')
    await mkdir(join(tree, 'docs'))
    await writeFile(join(tree, 'docs', 'guide.md'), '# As released')
    git('add', '.')
    git('commit', '--quiet', '-m', 'two')
    git('tag', 'v0.2.0')
    await writeFile(join(tree, 'docs', 'guide.md'), '# Not released')
    const versions = await taggedVersions(tree, join(folder, 'work'))
    assert.equal(
      versions.map(({ name }) => name),
      ['0.2.0', 'unreleased'],
    )
    const texts = versions.map(({ root }) => readFile(join(root, 'docs', 'guide.md'), 'utf8'))
    assert.equal(await Promise.all(texts), ['# As released', '# Not released'])
    // What was laid out before is taken as it is.
    assert.equal(await taggedVersions(tree, join(folder, 'work')), versions)
  })

  it('begin with what is not released while nothing is', () => {
    assert.equal(names('unreleased'), [['unreleased', '', true]])
  })
})

describe('what the site claims', (it) => {
  for (const { value, page, hash, quotes } of startFigures)
    it(`${value} stands word for word in ${page}${hash}`, async () => {
      const text = await read(page)
      for (const quote of quotes) assert.ok(text.includes(quote), quote)
    })

  it('about code of others names the version of each package', async () => {
    const names = await readdir(join(repository, 'docs', 'comingFrom'))
    assert.is(names.length, 5)
    for (const name of names) {
      const page = await read(`docs/comingFrom/${name}`)
      const stated = statedVersions(page).map((each) => each.replace(/@[\d.]+$/, ''))
      assert.ok(stated.length > 0, name)
      const imported = [...theirCode(page).matchAll(/ from '((?:@[\w-]+\/)?[\w-]+)[^']*'/g)].map(([, from]) => from!)
      assert.ok(imported.length > 0, name)
      // What zod makes is checked with the one that the script brings.
      const unstated = imported.filter((from) => from !== 'zod' && !stated.includes(from))
      assert.equal(unstated, [], name)
    }
  })
})
