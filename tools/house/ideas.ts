import { refused } from '../../scripts/prose.ts'
import type { Source } from './sources.ts'

/** An idea that should live in one folder, and the words that name it in code. */
export interface Idea {
  readonly name: string
  /** Folders of its own, from the root. */
  readonly home: RegExp
  readonly words: RegExp
  /** Files in which the word is another's: the guards of a statechart, the artifacts of a task of A2A. */
  readonly others?: RegExp
}

export const ideas: readonly Idea[] = [
  {
    name: 'guards',
    home: /\/guards\//,
    words: /guardedTo|\bguards\b|Guard(Answer|Context|Options)/,
    others:
      /^packages\/charts\/|\/charts\/|\/interpreter\/|\/(?:agentSetup|supervisorMachine|connectionMachine|errors)\.ts$/,
  },
  { name: 'graft', home: /\/graft\//, words: /graft/i },
  { name: 'artifacts', home: /\/artifacts?\//, words: /artifact/i, others: /^packages\/a2a\// },
]

const code = (text: string): string => text.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')

/** The files that name an idea in their code and lie outside its own folders. */
export const namersOf = ({ home, words, others }: Idea, sources: readonly Source[]): readonly string[] =>
  sources
    .filter(({ path, text }) => !home.test(path) && others?.test(path) !== true && words.test(code(text)))
    .map(({ path }) => path)

const callRecords =
  /'(?:approval\.(?:requested|decided)|question\.(?:asked|answered)|call\.requested|tool\.(?:start|end))'/.source
const stage = "'(?:ready|held|asked|asking|requested|running|settled|pending|waiting|ended)'"
/** A record of a call that something is done about. */
const told = new RegExp(`(?:case |=== )${callRecords}|${callRecords}(?=:|\\()`, 'g')
/** A stage that is given to something, or to a record. */
const given = new RegExp(`(?:status|stage|state)\\w*\\??\\s*(?::|=)\\s*${stage}|${callRecords}: ${stage}`)
/** The one place, and what asks it. */
const home = 'src/log/callStage.ts'
const asks = /\b(?:stageAfter|statusAfter)\b/

/**
 * The files that decide from records how far a call is: they do something about two or more of the records that move a call, give it a stage in
 * words of their own, and do not ask the one place. A writer, which makes a line, an arrow or a span of each record, gives no stage.
 */
export const stagePlaces = (sources: readonly Source[]): readonly string[] =>
  sources
    .filter(({ path, text }) => {
      const plain = code(text)
      const records = new Set([...plain.matchAll(told)].map(([record]) => /'[^']+'/.exec(record)?.[0]))
      return path === home || (records.size >= 2 && given.test(plain) && !asks.test(plain))
    })
    .map(({ path }) => path)

const agentWord = /^(?:[A-Z][a-z]+)?Agent$|^Agent(?:Body|Host|Facts|Commands)$|^UnloadedHost$/

/** The classes and interfaces that stand for an agent, by their names. */
export const agentShapes = (sources: readonly Source[]): readonly string[] =>
  sources.flatMap(({ text }) =>
    [...text.matchAll(/^(?:export )?(?:abstract )?(?:class|interface|type) (\w+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => agentWord.test(name)),
  )

/** The doc comments that begin with a word that no comment should begin with. */
export const oddComments = (sources: readonly Source[]): readonly string[] =>
  sources.flatMap(({ path, docs }) => docs.filter((doc) => refused.test(doc)).map((doc) => `${path}: ${doc}`))
