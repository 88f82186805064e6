//! Runs a peer over a corpus when the harness asks for it.
//!
//! `urlmill-peers FILE` reads the corpus, one URL or user agent a line, and then answers every line of standard input, which
//! names a peer and a number of passes, with "nanoseconds valid-rows check" for all passes together, in time of the CPU. The
//! check keeps the optimizer from dropping the work, and lets the harness see that peers agree on it roughly.

use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::sync::OnceLock;

use cpu_time::ProcessTime;

fn main() {
    let path = std::env::args().nth(1).expect("usage: urlmill-peers FILE");
    let data = std::fs::read(path).expect("the corpus cannot be read");
    let lines: Vec<&[u8]> = data
        .split(|&b| b == b'\n')
        .filter(|l| !l.is_empty())
        .collect();
    // The parsers take text; the conversion is not a part of what is measured.
    let texts: Vec<String> = lines
        .iter()
        .map(|l| String::from_utf8_lossy(l).into_owned())
        .collect();
    let mut out = io::stdout().lock();
    writeln!(out, "ready {}", texts.len()).unwrap();
    out.flush().unwrap();
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let mut words = line.split(' ');
        let peer = words.next().unwrap_or("");
        let passes: u32 = words.next().and_then(|n| n.parse().ok()).unwrap_or(1);
        let run: fn(&str) -> Option<usize> = match peer {
            "ada_url_aggregator" => ada,
            "ada_parts" => ada_parts,
            "rust_url_parse" => rust_url_parse,
            "rust_url" => rust_url,
            "uap_rust" => {
                extractor(); // its rules are compiled before the clock starts
                uap_rust
            }
            _ => {
                writeln!(out, "unknown peer {peer}").unwrap();
                out.flush().unwrap();
                continue;
            }
        };
        let start = ProcessTime::now();
        let (mut valid, mut check) = (0u64, 0usize);
        for _ in 0..passes {
            for text in &texts {
                if let Some(n) = run(black_box(text)) {
                    valid += 1;
                    check = check.wrapping_add(n);
                }
            }
        }
        let ns = start.elapsed().as_nanos();
        writeln!(out, "{ns} {valid} {check}").unwrap();
        out.flush().unwrap();
    }
}

/// Ada's parse alone: ada::url_aggregator, which normalizes into one buffer with offsets.
fn ada(text: &str) -> Option<usize> {
    ada_url::Url::parse(text, None).ok().map(|u| u.href().len())
}

/// Ada's parse, origin, path and decoded search params; without a public suffix list, which it does not have.
fn ada_parts(text: &str) -> Option<usize> {
    let u = ada_url::Url::parse(text, None).ok()?;
    let mut n = u.origin().len() + u.pathname().len();
    if !u.search().is_empty() {
        if let Ok(params) = ada_url::UrlSearchParams::parse(u.search()) {
            n += params.len();
        }
    }
    Some(n)
}

/// rust-url's parse alone.
fn rust_url_parse(text: &str) -> Option<usize> {
    url::Url::parse(text).ok().map(|u| u.as_str().len())
}

/// rust-url's parse with the registrable domain by the crate psl and the decoded pairs.
fn rust_url(text: &str) -> Option<usize> {
    let u = url::Url::parse(text).ok()?;
    let mut n = u.path().len();
    if let Some(url::Host::Domain(host)) = u.host() {
        if let Some(domain) = psl::domain(host.as_bytes()) {
            n += domain.as_bytes().len();
        }
    }
    for (name, value) in u.query_pairs() {
        n += name.len() + value.len();
    }
    Some(n)
}

/// The rules of uap-core in the file that UAP_CORE names.
fn extractor() -> &'static ua_parser::Extractor<'static> {
    static ONCE: OnceLock<ua_parser::Extractor<'static>> = OnceLock::new();
    ONCE.get_or_init(|| {
        let path = std::env::var("UAP_CORE").expect("UAP_CORE names no file of rules");
        let text = std::fs::read(path).expect("the rules cannot be read");
        let rules: ua_parser::Regexes<'static> =
            serde_yaml::from_slice::<serde_yaml::Value>(&text)
                .and_then(serde_yaml::from_value)
                .expect("the rules cannot be read");
        ua_parser::Extractor::try_from(rules).expect("the rules cannot be compiled")
    })
}

/// Browser, system and device of a user agent.
fn uap_rust(text: &str) -> Option<usize> {
    let (browser, system, device) = extractor().extract(text);
    let mut n = browser.map_or(0, |b| b.family.len());
    n += system.map_or(0, |s| s.os.len());
    n += device.map_or(0, |d| d.device.len());
    Some(n)
}
