import type { Plugin } from 'vite'

/** A module of the core or of the client whose work the page never asks for. */
interface Unused {
  /** End of the module's path. */
  readonly path: string
  /** Code that stands in the module's place. */
  readonly code: string
  /** Words by which code of the page would use the module. */
  readonly words: readonly string[]
}

const unused: readonly Unused[] = [
  // Asks for what a part imports before it comes: of what is shown first all is on its way by then (app.tsx).
  { path: 'vite/preload-helper.js', code: 'export const __vitePreload = (load) => load()', words: [] },
  // Answers as data while they are written, and once they are there.
  {
    path: '/src/protocol/runs/partialOutput.ts',
    code: 'export const partialOutput = undefined\nexport const partialOutputs = undefined',
    words: ['partialOutput'],
  },
  {
    path: '/src/protocol/checks/readOutput.ts',
    code: 'export const readJson = () => undefined\nexport const readAnswer = undefined',
    words: ['.checkOutput(', 'readAnswer', 'readJson'],
  },
  {
    path: '/src/protocol/checks/strictOutput.ts',
    code: 'export const unwrapped = undefined\nexport const fromOutput = undefined',
    words: ['unwrapped', 'fromOutput'],
  },
  // Events of a run, or of an agent, one after the other.
  {
    path: '/src/protocol/runs/eventBuffer.ts',
    code: 'export class EventBuffer {\n  push() {}\n  close() {}\n}',
    words: ['EventBuffer', '.events('],
  },
  // Reports for programs: a page has a console, which shows stacks itself.
  {
    path: '/src/protocol/callbackBugs.ts',
    code: 'export const callbackBugs = { tell: (place, thrown) => console.warn(place, thrown) }',
    words: ['callbackBugs', 'callListener', 'isLikelyBug', 'warnProcess'],
  },
  // Hints at words that were meant: the page's own fields are known when it is built.
  {
    path: '/src/protocol/checks/nearestWord.ts',
    code: 'export const unknownField = (name) => `"${name}" is not known`',
    words: ['nearestWord', 'nearWords', 'editDistance'],
  },
  // Calls that a client carries out.
  { path: '/bridge/src/client/callAnswers.ts', code: 'export const CallAnswers = undefined', words: ['.onCall('] },
  // Changes of an agent's state.
  {
    path: '/src/protocol/parts/state/plainState.ts',
    code: 'export const plainState = undefined',
    words: ['.updateState(', 'plainState'],
  },
  { path: '/src/protocol/parts/state/drafted.ts', code: 'export const drafted = undefined', words: ['drafted('] },
  // The server checks a command in full, and answers with the same codes.
  {
    path: '/bridge/src/client/commandShapes.ts',
    code: 'export const checkCommand = () => {}',
    words: ['checkCommand'],
  },
  // Texts of requests. The page counts notes as they were written, and shows no request that it made itself.
  {
    path: '/src/conversation/request/markers.ts',
    code: 'export const plainMarkers = undefined\nexport const brakeMarkers = undefined',
    words: ['Markers'],
  },
  {
    path: '/src/conversation/request/renderMessage.ts',
    code: [
      'export const renderMessage = (message) => message',
      'export const soundName = (name) => name',
      'export const neutralise = (text) => text',
    ].join('\n'),
    words: ['renderMessage', 'soundName', 'neutralise'],
  },
]

/** Packages whose code runs in the page, other than the client that the modules belong to. */
const ofPage = ['/page/src/inspector/', '/packages/charts/src/', '/packages/sessions/src/']

const isOfPage = (id: string): boolean => /\.tsx?$/.test(id) && ofPage.some((folder) => id.includes(folder))

/** Removes a few modules of the core or of every client from the page's scripts: a tenth of what a conversation loads. */
export const unusedByPage: Plugin = {
  name: 'unused-by-page',
  load: (id) => unused.find(({ path }) => id.endsWith(path))?.code ?? null,
  transform(code, id) {
    const used = isOfPage(id) ? unused.flatMap(({ words }) => words).find((word) => code.includes(word)) : undefined
    if (used !== undefined && !id.endsWith('/unusedByPage.ts'))
      this.error(`The page has no ${used}: unusedByPage.ts leaves it out.`)
    return null
  },
}
