import type { Fault } from '../mutate.ts'

const page = 'packages/bridge/src/page/servePage.ts'
const files = 'packages/bridge/src/page/pageFiles.ts'

/** Slips in how the page is served: compressed, with tags, below a path, in frames. */
export const faults: readonly Fault[] = [
  {
    id: 'servedPage-1',
    file: 'packages/bridge/src/page/encodings.ts',
    what: 'what a client refuses with a weight of 0 is sent',
    from: 'if (weight <= most || !there.includes(name)) continue',
    to: 'if (weight < most || !there.includes(name)) continue',
    tests: ['packages/bridge/test/page/'],
  },
  {
    id: 'servedPage-2',
    file: page,
    what: 'a cache between gives a compressed file to who takes none',
    from: "vary: 'accept-encoding',",
    to: '',
    tests: ['packages/bridge/test/page/'],
  },
  {
    id: 'servedPage-3',
    file: page,
    what: 'the length is that of the file as it is',
    from: "'content-length': body.length",
    to: "'content-length': file.body.length",
    tests: ['packages/bridge/test/page/'],
  },
  {
    id: 'servedPage-4',
    file: files,
    what: 'a page that connects elsewhere has the tag of the other',
    from: "pageFile('/index.html', Buffer.from(told))",
    to: '{ ...page, body: Buffer.from(told) }',
    tests: ['packages/bridge/test/page/'],
  },
  {
    id: 'servedPage-5',
    file: 'packages/bridge/src/server/serveOptions.ts',
    what: 'an origin may bring directives of its own into the policy',
    from: '/^https?:\\/\\/[\\w.:[\\]-]+$/.test(text)',
    to: '/^https?:/.test(text)',
    tests: ['packages/bridge/test/server/places'],
  },
  {
    id: 'servedPage-6',
    file: 'packages/bridge/src/server/httpRoutes.ts',
    what: 'the way to the page leaves the path of the proxy',
    from: 'location: `./${path.slice',
    to: 'location: `/${path.slice',
    tests: ['packages/bridge/test/server/places'],
  },
  {
    id: 'servedPage-7',
    file: 'packages/page/src/inspector/browserPorts.ts',
    what: 'charts are asked for at the root, where a proxy has something else',
    from: 'fetch(beside(`agents/${encodeURIComponent(agentId)}/chart.json${query}`)',
    to: 'fetch(new URL(`/agents/${encodeURIComponent(agentId)}/chart.json${query}`, document.baseURI)',
    tests: ['page/test/inspector/shell/placesInChromium'],
  },
  {
    id: 'servedPage-8',
    file: 'packages/page/src/inspector/main.tsx',
    what: 'who goes from the overview to an agent waits for its code',
    from: '  whenIdle(() => void fetchOthers())\n',
    to: '',
    tests: ['page/test/inspector/shell/laterInChromium'],
  },
  {
    id: 'servedPage-9',
    file: 'packages/page/src/inspector/parts/later.tsx',
    what: 'a view whose code cannot be had is being loaded for ever',
    from: "if (!isOver) state.value = 'failed'",
    to: 'isOver ||= false',
    tests: ['page/test/inspector/shell/laterInChromium'],
  },
  {
    id: 'servedPage-10',
    file: 'packages/page/src/inspector/vite.config.ts',
    what: 'what every visit loads comes in several files, which are larger together',
    from: "name: (id: string, graph: Graph) => (isOfAll(id, graph) ? 'page' : null), priority: 1",
    to: "name: 'page', tags: ['$initial'], priority: 1",
    tests: ['inspector/weight'],
  },
  {
    id: 'servedPage-11',
    file: files,
    what: 'what keeps its name is kept by browsers for a year, whatever a newer version has under it',
    from: '-[\\w-]{8}\\.\\w+$/',
    to: '.\\w+$/',
    tests: ['packages/bridge/test/page/'],
  },
  {
    id: 'servedPage-12',
    file: 'packages/bridge/src/page/compressed.ts',
    what: 'every request compresses anew',
    from: 'made.set(encoding, making)',
    to: '',
    tests: ['packages/bridge/test/page/'],
  },
]
