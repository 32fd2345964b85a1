/**
 * `npm run site`: the documentation site as one works on it; `site:build` makes it, `site:preview` serves what was made. See tools/site/README.md.
 */
import { existsSync, readFileSync, watch } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { preview, type Plugin } from 'vite'
import { astro, buildSite, prepareSite } from './buildSite.ts'
import { taggedVersions, type Version } from './prepare/versions.ts'

const packages = import.meta.dirname
const repository = join(packages, '..', '..')
const outDir = join(packages, 'dist')
const work = join(packages, '.work')

const usage = `npm run site           serve the pages of the working tree, and follow what is written
npm run site:build     build all versions into tools/site/dist: tags (v1.2.3) and the working tree
npm run site:preview   serve tools/site/dist

  --root <path>        of site:build: the path it will be served below, such as /escapement/
  --origin <url>       of site:build: where it will be reached, for the sitemap and the picture of links
  --repository <url>   of site:build: where pages can be changed, such as https://host/owner/name
  --current            of site:build: the working tree alone
  --port <number>      of site and site:preview`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    root: { type: 'string', default: '/' },
    origin: { type: 'string' },
    repository: { type: 'string' },
    current: { type: 'boolean', default: false },
    port: { type: 'string', default: '4321' },
    help: { type: 'boolean', default: false },
  },
})

/** Served below a path that begins and ends with a slash. */
const root = `/${values.root}/`.replaceAll(/\/+/g, '/')
const origin = values.origin === undefined ? undefined : new URL(values.origin).origin
const workingTree: readonly Version[] = [{ name: 'unreleased', root: repository }]

async function develop(): Promise<void> {
  const options = { versions: workingTree, packages, outDir, work }
  const [version] = await prepareSite(options)
  let waiting: NodeJS.Timeout | undefined
  const again = (): void => {
    clearTimeout(waiting)
    waiting = setTimeout(() => {
      prepareSite(options).catch((thrown: unknown) => console.error(thrown instanceof Error ? thrown.message : thrown))
    }, 200)
  }
  for (const folder of ['docs', 'tools/site/content', 'tools/site/live', 'tools/site/theme', 'tools/site/prepare'])
    if (existsSync(join(repository, folder))) watch(join(repository, folder), { recursive: true }, again).unref()
  await astro({ packages }, version!.project, ['dev', '--port', values.port])
}

async function build(): Promise<void> {
  const versions = values.current ? workingTree : await taggedVersions(repository, join(packages, '.versions'))
  const changed = values.repository?.replace(/\/$/, '')
  await buildSite({
    versions,
    packages,
    outDir,
    work,
    root,
    origin,
    repository: changed,
    print: (line) => console.log(line),
  })
  console.log('The site is in tools/site/dist. npm run site:preview serves it.')
}

const notFoundPage: Plugin = {
  name: 'not-found-page',
  configurePreviewServer:
    ({ middlewares }) =>
    () => {
      middlewares.use(({ url = '/' }, response, next) => {
        const { pathname } = new URL(url, 'http://localhost')
        if (existsSync(join(outDir, pathname))) return next()
        response.writeHead(404, { 'content-type': 'text/html; charset=utf-8' })
        response.end(readFileSync(join(outDir, '404.html')))
      })
    },
}

async function serve(): Promise<void> {
  if (!existsSync(outDir)) throw new Error('tools/site/dist is not there: npm run site:build makes it.')
  const server = await preview({
    configFile: false,
    root: packages,
    // A page that is not there is none, and looks as a host should show it.
    appType: 'mpa',
    plugins: [notFoundPage],
    build: { outDir },
    preview: { port: Number(values.port), host: '127.0.0.1' },
  })
  server.printUrls()
}

const commands: Readonly<Record<string, () => Promise<void>>> = { dev: develop, build, preview: serve }
const [name = ''] = positionals
const command = commands[name]
if (values.help || command === undefined) {
  console.log(usage)
} else if (name !== 'preview' && !existsSync(join(packages, 'node_modules'))) {
  console.error('What builds the site is not installed: npm ci --prefix tools/site')
  process.exitCode = 1
} else {
  await command().catch((thrown: unknown) => {
    console.error(thrown instanceof Error ? thrown.message : thrown)
    if (thrown instanceof Error && thrown.cause instanceof Error) console.error(thrown.cause.message)
    process.exitCode = 1
  })
}
