import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { type RecordedSession, ReplayError } from '../recordedSession.ts'
import { chatMessagesIn, readChatMessages } from './chatMessages.ts'
import { isClaudeCode, readClaudeCode } from './claudeCode.ts'
import { isCodex, readCodex } from './codex.ts'
import { isCopilot, readCopilot } from './copilot.ts'
import { isExport, isLog, readExported, readFolder, readLog } from './escapement.ts'
import { type JsonLines, jsonLines, parsed } from './jsonLines.ts'
import { isKimiContext, isKimiWire, readKimiContext, readKimiWire } from './kimi.ts'
import { langChainMessagesIn, readLangChain } from './langChain.ts'
import { isMiniSweAgent, readMiniSweAgent } from './miniSweAgent.ts'
import { isOpenCode, readOpenCode } from './openCode.ts'
import { openHandsEventsIn, readOpenHands } from './openHands.ts'
import { isPi, readPi } from './pi.ts'
import { isObject } from './shapes.ts'
import { isSweAgent, readSweAgent } from './sweAgent.ts'
import { withFrame } from './withFrame.ts'

const formats =
  'an escapement log, export or folder, a session file of pi, Claude Code, Codex, OpenCode, Kimi or the Copilot CLI, events of OpenHands, messages of LangGraph, chat messages of OpenAI or the AI SDK, or a trajectory of SWE-agent'

/**
 * Reads a recording from a file, or from a folder of logs (`<folder>#<id>` names one of several); its format is seen from its content. `unit`:
 * tokens of the provider in four characters.
 *
 * @throws ReplayError when there is nothing that can be replayed, saying what was seen; RuntimeError for a damaged log.
 */
export async function readSession(path: string, unit?: number): Promise<RecordedSession> {
  const exists = await stat(path).catch(() => undefined)
  const at = path.lastIndexOf('#')
  const [file, agentId] = exists === undefined && at > 0 ? [path.slice(0, at), path.slice(at + 1)] : [path, undefined]
  const found = exists ?? (await stat(file).catch(() => undefined))
  if (found === undefined) throw new ReplayError(`There is no file or folder ${file}.`)
  if (found.isDirectory()) return withFrame(await readFolder(file, agentId), unit)
  return await readText(await readFile(file, 'utf8'), basename(file), unit)
}

/** @throws as `readSession` does. */
export async function readText(given: string, name: string, unit?: number): Promise<RecordedSession> {
  return withFrame(await readAsIs(given, name), unit)
}

async function readAsIs(given: string, name: string): Promise<RecordedSession> {
  const text = given.replace(/^\uFEFF/, '')
  if (text.trim() === '') throw new ReplayError(`${name} is empty.`)
  const whole = parsed(text)
  if (isSweAgent(whole)) return readSweAgent(whole, name)
  if (isMiniSweAgent(whole)) return readMiniSweAgent(whole, name)
  const chat = chatMessagesIn(whole)
  if (chat !== undefined) return readChatMessages(chat, name)
  if (isOpenCode(whole)) return readOpenCode(whole, name)
  const events = openHandsEventsIn(whole)
  if (events !== undefined) return readOpenHands(events, name)
  const messages = langChainMessagesIn(whole)
  if (messages !== undefined) return readLangChain(messages, name)
  if (whole !== undefined && !isObject(whole)) throw unknownFormat(name, whole)
  // One value over many lines is no list of lines.
  const lines = whole === undefined ? jsonLines(text) : { values: [whole], isTorn: false, bad: [] }
  const session = await readLines(text, lines, name)
  const { isTorn, bad } = lines
  const notes = [
    ...session.notes,
    ...(bad.length === 0 ? [] : [`lines that are not JSON were left out (${bad.length}): ${bad[0]}`]),
    ...(isTorn ? ['the last line was cut off and left out'] : []),
  ]
  return { ...session, notes }
}

async function readLines(text: string, { values, bad }: JsonLines, name: string): Promise<RecordedSession> {
  // Several processes write these files at once, and each line stands by itself.
  if (bad.length > 0 && !isClaudeCode(values)) throw new ReplayError(`${name}, ${bad[0]}`)
  if (isLog(values)) return readLog(values, name)
  if (isExport(values)) return await readExported(text, name)
  if (isPi(values)) return readPi(values, name)
  if (isCodex(values)) return readCodex(values, name)
  if (isCopilot(values)) return readCopilot(values, name)
  if (isKimiContext(values)) return readKimiContext(values, name)
  if (isKimiWire(values)) return readKimiWire(values, name)
  if (isClaudeCode(values)) return readClaudeCode(values, name)
  const chat = chatMessagesIn(values)
  if (chat !== undefined) return readChatMessages(chat, name)
  const events = openHandsEventsIn(values)
  if (events !== undefined) return readOpenHands(events, name)
  const messages = langChainMessagesIn(values)
  if (messages !== undefined) return readLangChain(messages, name)
  throw unknownFormat(name, values[0])
}

function unknownFormat(name: string, seen: unknown): ReplayError {
  const fields = isObject(seen)
    ? `an object with the fields ${Object.keys(seen).slice(0, 8).join(', ')}`
    : describe(seen)
  return new ReplayError(`${name} is in no known format: it begins with ${fields}. Known are ${formats}.`)
}

const describe = (seen: unknown): string =>
  Array.isArray(seen) ? `a list of ${seen.length}` : `${typeof seen} ${JSON.stringify(seen)?.slice(0, 40)}`
