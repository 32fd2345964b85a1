/** Number of bytes that become text at a time: a call takes only so many arguments. */
const chunk = 32 * 1024

/** Bytes as base64, wherever this runs. */
export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += chunk) text += String.fromCharCode(...bytes.subarray(at, at + chunk))
  return btoa(text)
}
