import { readdir, readFile, stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { assert, describe } from '../support/suite.ts'
import { builtSite, withSite } from './builtSite.ts'

interface Page {
  /** `/unreleased/guide/` */
  readonly address: string
  readonly html: string
  readonly ids: ReadonlySet<string>
  /** Targets of links, as they are written. */
  readonly links: readonly string[]
}

const text = (attribute: string): string =>
  attribute.replaceAll('&amp;', '&').replaceAll('&#38;', '&').replaceAll('&quot;', '"')

async function pagesOf(folder: string): Promise<ReadonlyMap<string, Page>> {
  const names = (await readdir(folder, { recursive: true })).map((name) => name.replaceAll('\\', '/'))
  const pages = names
    .filter((name) => name.endsWith('/index.html') || name === 'index.html')
    .map(async (name): Promise<Page> => {
      const html = await readFile(join(folder, name), 'utf8')
      return {
        address: `/${name.replace(/index\.html$/, '')}`,
        html,
        ids: new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => text(id!))),
        links: [...html.matchAll(/<a\s[^>]*?href="([^"]*)"/g)].map(([, href]) => text(href!)),
      }
    })
  return new Map((await Promise.all(pages)).map((page) => [page.address, page]))
}

/** Bytes of the whole site, not compressed. */
const budget = 25_000_000

const isElsewhere = (link: string): boolean => /^[a-z][\w+.-]*:/i.test(link)

/** Where a link of a page leads, in this site. */
function target(page: Page, link: string): { readonly address: string; readonly id: string } {
  const url = new URL(link, `http://site${page.address}`)
  return { address: url.pathname, id: decodeURIComponent(url.hash.slice(1)) }
}

/** Targets of the menu beside a page. */
const menuOf = (page: Page): readonly string[] =>
  [...(/<nav[^>]*class="sidebar[\s\S]*?<\/nav>/.exec(page.html)?.[0] ?? '').matchAll(/href="([^"]+)"/g)].map(
    ([, href]) => target(page, href!).address,
  )

describe('the documentation site', (it) => {
  const built = withSite(it)

  built('has no link to a page or heading that is not there', async ({ signal }) => {
    const folder = await builtSite(signal)
    const pages = await pagesOf(folder)
    assert.ok(pages.size > 500, `there are ${pages.size} pages`)
    const files = new Set((await readdir(folder, { recursive: true })).map((name) => `/${name.replaceAll('\\', '/')}`))
    const broken: string[] = []
    for (const page of pages.values())
      for (const link of page.links) {
        if (isElsewhere(link)) continue
        const { address, id } = target(page, link)
        const found = pages.get(address)
        if (found === undefined ? !files.has(address) : id !== '' && id !== '_top' && !found.ids.has(id))
          broken.push(`${page.address} links to ${link}`)
      }
    assert.equal(broken, [])
  })

  built('is light: pages of types and sources have a menu of their own', async ({ signal }) => {
    const folder = await builtSite(signal)
    const names = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
    const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size))
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    assert.ok(bytes < budget, `the site has ${bytes} bytes`)
  })

  built('lists its pages for models, each with an address that is there', async ({ signal }) => {
    const folder = await builtSite(signal)
    const pages = await pagesOf(folder)
    const listed = await readFile(join(folder, 'unreleased', 'llms.txt'), 'utf8')
    const addresses = [...listed.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S/gm)].map(([, address]) => address!)
    assert.ok(addresses.includes('/unreleased/guide/tools/') && addresses.length > 50, listed)
    assert.equal(
      addresses.filter((address) => !pages.has(address)),
      [],
    )
  })

  built('begins the reference of a module with its functions', async ({ signal }) => {
    const { html } = (await pagesOf(await builtSite(signal))).get('/unreleased/api/escapement/')!
    assert.ok(html.indexOf('defineAgent') < html.indexOf('RuntimeError'))
  })

  built('has a table of its options on the page of a function', async ({ signal }) => {
    const pages = await pagesOf(await builtSite(signal))
    for (const [name, option] of [
      ['escapement/functions/define-agent', 'maxBackground?'],
      ['escapement/functions/define-tool', 'needsApproval?'],
      ['escapement/functions/file-store', 'durability?'],
    ] as const) {
      const { html } = pages.get(`/unreleased/api/${name}/`)!
      const [, table = ''] = /id="options"[\s\S]*?<table>([\s\S]*?)<\/table>/.exec(html) ?? []
      const heads = [...table.matchAll(/<th[^>]*>([^<]*)/g)].map(([, head]) => head)
      assert.equal(heads, ['Property', 'Type', 'Default', 'Description'], name)
      assert.ok(table.includes(option), `${name} has ${option}`)
    }
  })

  built('leads from the menu to every page', async ({ signal }) => {
    const pages = await pagesOf(await builtSite(signal))
    const start = pages.get('/unreleased/')!
    const menu = menuOf(start)
    assert.ok(menu.length > 40, `the menu has ${menu.length} entries`)
    // Pages of the API, decisions and sources stand behind those of the menu. A set that grows is walked to its end.
    const reached = new Set(menu)
    for (const address of reached)
      for (const link of pages.get(address)?.links ?? [])
        if (!isElsewhere(link)) reached.add(target(pages.get(address)!, link).address)
    const lost = [...pages.keys()].filter((address) => address.startsWith('/unreleased/') && !reached.has(address))
    assert.equal(lost, [])
    const docs = await readdir(join(import.meta.dirname, '..', '..', 'docs'))
    const named = docs.filter((name) => name.endsWith('.md')).length
    assert.ok(menu.filter((address) => !address.includes('/api/')).length >= named, 'each page of docs is in the menu')
  })

  built('asks for nothing from elsewhere', async ({ signal }) => {
    const pages = await pagesOf(await builtSite(signal))
    const asked = [...pages.values()].flatMap(({ address, html }) =>
      [...html.matchAll(/<(?:script|link|img|iframe|source|video)\s[^>]*?(?:src|href)="(https?:[^"]+|\/\/[^"]+)"/g)]
        .filter(([whole]) => !/rel="(?:canonical|sitemap)"/.test(whole))
        .map(([, url]) => `${address}: ${url}`),
    )
    assert.equal(asked, [])
  })

  built('says of every page what it is about', async ({ signal }) => {
    const pages = await pagesOf(await builtSite(signal))
    const bare = [...pages.values()].filter(
      ({ html }) => !/<title>[^<]{3,}<\/title>/.test(html) || !/<meta name="description" content="[^"]{8,}"/.test(html),
    )
    assert.equal(
      bare.map(({ address }) => address),
      [],
    )
  })

  built('puts their code beside ours on every page for who comes from elsewhere', async ({ signal }) => {
    const pages = await pagesOf(await builtSite(signal))
    const names = await readdir(join(import.meta.dirname, '..', '..', 'docs', 'comingFrom'))
    const coming = [...pages.values()].filter(({ address }) => address.startsWith('/unreleased/coming-from/'))
    assert.is(coming.length, names.length)
    for (const { address, html } of coming)
      assert.ok((html.match(/class="beside"/g) ?? []).length >= 2, `${posix.basename(address)} has code side by side`)
  })
})
