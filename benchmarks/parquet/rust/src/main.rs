//! Makes passes with arrow-rs for bench-parquet: `bench-arrow-rs TABLE [views]`, with a table as an Arrow IPC stream, reads names
//! of codecs, one a line, and answers each with a pass as JSON. With views, texts are Utf8View and BinaryView.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{Array, ArrayRef, ListArray, RecordBatch, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use arrow::ipc::reader::StreamReader;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

const GROUP_ROWS: usize = 128 << 10;

/// Columns whose values hardly repeat: a dictionary of theirs would be given up in the end, which costs time.
const UNIQUE: [&str; 7] = ["href", "path", "query", "params.list.element.value", "fragment", "timestamp", "key"];

/// Counts what is written to it and drops it.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, p: &[u8]) -> io::Result<usize> {
        self.0 += p.len() as u64;
        Ok(p.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let table = args.next().expect("usage: bench-arrow-rs TABLE [views]");
    let views = args.next().is_some();
    let file = File::open(table).expect("the table cannot be read");
    let mut batches: Vec<RecordBatch> = StreamReader::try_new_buffered(file, None)
        .expect("the table is no stream")
        .map(|b| b.expect("the table is damaged"))
        .collect();
    if views {
        batches = batches.iter().map(with_views).collect();
    }
    let schema = batches[0].schema();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let props = properties(&line.expect("the codec cannot be read"));
        let (cpu, wall) = (cpu_time(), Instant::now());
        let bytes = encode(&schema, &batches, props);
        let (cpu, wall) = (cpu_time() - cpu, wall.elapsed());
        writeln!(out, "{{\"CPU\":{},\"Wall\":{},\"Bytes\":{bytes}}}", cpu.as_nanos(), wall.as_nanos()).unwrap();
        out.flush().unwrap();
    }
}

fn properties(codec: &str) -> WriterProperties {
    let compression = match codec {
        "none" => Compression::UNCOMPRESSED,
        "snappy" => Compression::SNAPPY,
        _ => Compression::ZSTD(ZstdLevel::try_new(1).unwrap()),
    };
    let mut b = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_column_encoding(ColumnPath::from("offset"), Encoding::DELTA_BINARY_PACKED)
        .set_column_dictionary_enabled(ColumnPath::from("offset"), false);
    for name in UNIQUE {
        let path = ColumnPath::new(name.split('.').map(String::from).collect());
        b = b.set_column_dictionary_enabled(path, false);
    }
    b.build()
}

fn encode(schema: &SchemaRef, batches: &[RecordBatch], props: WriterProperties) -> u64 {
    let mut w = ArrowWriter::try_new(Counter(0), schema.clone(), Some(props)).expect("the schema is refused");
    for b in batches {
        w.write(b).expect("a batch is refused");
    }
    w.into_inner().expect("the file cannot be ended").0
}

/// The time of the CPU that the process has used, of all threads.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("there is no /proc/self/schedstat");
    let ns = text.split(' ').next().unwrap().parse().expect("/proc/self/schedstat has no number");
    Duration::from_nanos(ns)
}

fn with_views(b: &RecordBatch) -> RecordBatch {
    let columns: Vec<ArrayRef> = b.columns().iter().map(view).collect();
    let fields: Vec<Field> = b
        .schema()
        .fields()
        .iter()
        .zip(&columns)
        .map(|(f, c)| f.as_ref().clone().with_data_type(c.data_type().clone()))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("views do not fit the schema")
}

fn view(a: &ArrayRef) -> ArrayRef {
    match a.data_type() {
        DataType::Utf8 => cast(a, &DataType::Utf8View).expect("no views of a column"),
        DataType::Binary => cast(a, &DataType::BinaryView).expect("no views of a column"),
        DataType::List(f) => {
            let list = a.as_any().downcast_ref::<ListArray>().unwrap();
            let elements = view(list.values());
            let field = f.as_ref().clone().with_data_type(elements.data_type().clone());
            Arc::new(ListArray::new(Arc::new(field), list.offsets().clone(), elements, list.nulls().cloned()))
        }
        DataType::Struct(fields) => {
            let pairs = a.as_any().downcast_ref::<StructArray>().unwrap();
            let columns: Vec<ArrayRef> = pairs.columns().iter().map(view).collect();
            let fields: Fields = fields
                .iter()
                .zip(&columns)
                .map(|(f, c)| f.as_ref().clone().with_data_type(c.data_type().clone()))
                .collect();
            Arc::new(StructArray::new(fields, columns, pairs.nulls().cloned()))
        }
        _ => a.clone(),
    }
}
